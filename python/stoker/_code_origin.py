"""Where code comes from: this package, Python itself, an installed package or the user's program."""

import os
import sys
import sysconfig
import types

from ._user_objects import module_of

_STANDARD, _INSTALLED = (tuple({os.path.join(sysconfig.get_paths()[name], "") for name in names})
                         for names in (("stdlib", "platstdlib"), ("purelib", "platlib")))
_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def is_internal(function):
    """Return whether a function is part of this package and calls no function passed to it."""
    return (isinstance(function, types.FunctionType) and function.__code__.co_filename.startswith(_HERE)
            and not any(callable(cell.cell_contents) for cell in function.__closure__ or ()))


def is_raised_here(failed):
    """Return whether this package raised an exception, and not a user function."""
    trace = failed.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE)


def is_of_python(module_name):
    """Return whether a module belongs to Python itself."""
    top = module_name.partition(".")[0]
    if top in sys.builtin_module_names or top in getattr(sys, "stdlib_module_names", ()):  # the latter since 3.10
        return True
    file = _file_of(module_name)
    return file.startswith(_STANDARD) and not is_installed(module_name)


def is_installed(module_name):
    """Return whether a module is part of an installed package."""
    file = _file_of(module_name)
    return file.startswith(_INSTALLED) or "site-packages" in file or "dist-packages" in file


def _file_of(module_name):
    return getattr(sys.modules.get(module_name), "__file__", None) or ""


def package_of(function):
    """Return the top-level package that defines a function or the class of an object."""
    is_code = isinstance(function, (types.FunctionType, types.MethodType))
    return str((is_code and function.__module__) or module_of(type(function))).partition(".")[0]
