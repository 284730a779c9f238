# Written by tools/make_stubs.py: change the source or the table of stages, not this file.

from ._image_color import adjust_brightness as adjust_brightness
from ._image_color import adjust_contrast as adjust_contrast
from ._image_color import adjust_gamma as adjust_gamma
from ._image_color import adjust_hue as adjust_hue
from ._image_color import adjust_jpeg_quality as adjust_jpeg_quality
from ._image_color import adjust_saturation as adjust_saturation
from ._image_color import convert_image_dtype as convert_image_dtype
from ._image_color import grayscale_to_rgb as grayscale_to_rgb
from ._image_color import hsv_to_rgb as hsv_to_rgb
from ._image_color import per_image_standardization as per_image_standardization
from ._image_color import random_brightness as random_brightness
from ._image_color import random_contrast as random_contrast
from ._image_color import random_hue as random_hue
from ._image_color import random_jpeg_quality as random_jpeg_quality
from ._image_color import random_saturation as random_saturation
from ._image_color import rgb_to_grayscale as rgb_to_grayscale
from ._image_color import rgb_to_hsv as rgb_to_hsv
from ._image_color import rgb_to_yiq as rgb_to_yiq
from ._image_color import rgb_to_yuv as rgb_to_yuv
from ._image_color import stateless_random_brightness as stateless_random_brightness
from ._image_color import stateless_random_contrast as stateless_random_contrast
from ._image_color import stateless_random_hue as stateless_random_hue
from ._image_color import stateless_random_jpeg_quality as stateless_random_jpeg_quality
from ._image_color import stateless_random_saturation as stateless_random_saturation
from ._image_color import yiq_to_rgb as yiq_to_rgb
from ._image_color import yuv_to_rgb as yuv_to_rgb
from ._image_geometry import central_crop as central_crop
from ._image_geometry import crop_and_resize as crop_and_resize
from ._image_geometry import crop_to_bounding_box as crop_to_bounding_box
from ._image_geometry import flip_left_right as flip_left_right
from ._image_geometry import flip_up_down as flip_up_down
from ._image_geometry import pad_to_bounding_box as pad_to_bounding_box
from ._image_geometry import random_crop as random_crop
from ._image_geometry import random_flip_left_right as random_flip_left_right
from ._image_geometry import random_flip_up_down as random_flip_up_down
from ._image_geometry import resize as resize
from ._image_geometry import resize_with_crop_or_pad as resize_with_crop_or_pad
from ._image_geometry import resize_with_pad as resize_with_pad
from ._image_geometry import rot90 as rot90
from ._image_geometry import stateless_random_crop as stateless_random_crop
from ._image_geometry import stateless_random_flip_left_right as stateless_random_flip_left_right
from ._image_geometry import stateless_random_flip_up_down as stateless_random_flip_up_down
from ._image_geometry import transpose as transpose
from ._image_torchvision import augment as augment
from ._image_torchvision import center_crop as center_crop
from ._image_torchvision import color_jitter as color_jitter
from ._image_torchvision import cutmix as cutmix
from ._image_torchvision import mixup as mixup
from ._image_torchvision import normalize as normalize
from ._image_torchvision import rand_augment as rand_augment
from ._image_torchvision import random_erasing as random_erasing
from ._image_torchvision import random_resized_crop as random_resized_crop
from ._image_torchvision import resize_shorter as resize_shorter
from ._image_torchvision import trivial_augment as trivial_augment
from .io import decode_and_crop_jpeg as decode_and_crop_jpeg
from .io import decode_bmp as decode_bmp
from .io import decode_gif as decode_gif
from .io import decode_image as decode_image
from .io import decode_jpeg as decode_jpeg
from .io import decode_png as decode_png
from .io import decode_webp as decode_webp
from .io import extract_jpeg_shape as extract_jpeg_shape
from .io import extract_shape as extract_shape
from .io import is_jpeg as is_jpeg
class ResizeMethod:
    AREA: str
    BICUBIC: str
    BILINEAR: str
    GAUSSIAN: str
    LANCZOS3: str
    LANCZOS5: str
    MITCHELLCUBIC: str
    NEAREST_NEIGHBOR: str
