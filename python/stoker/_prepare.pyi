# Written by tools/make_stubs.py: change the source or the table of stages, not this file.
from collections.abc import Callable, Mapping
from typing import Any, Literal
from . import _types as t

def pack(source: t.Path, destination: t.Path, *, labels: t.Path | None = None, name: str | None = None, shards: int | None = None, seed: t.Int = 0, split: str | Mapping[str, float] | None = None, resize: int | None = None, quality: int | None = None, image_feature: str | None = None, label_feature: str | None = None, keep_bytes: bool = False, on_error: Literal['raise', 'skip'] = 'raise', overwrite: bool = False, progress: bool | Callable[[Progress], object] | None = None) -> PackResult: ...
def index(path: t.Paths, *, label: str | None = None, progress: bool | Callable[[Progress], object] | None = None) -> IndexResult: ...
def verify(path: t.Paths, *, images: bool = True, progress: bool | Callable[[Progress], object] | None = None) -> VerifyResult: ...
def inspect(path: t.Paths, *, sheet: t.Path | None = None, limit: int = 64, progress: bool | Callable[[Progress], object] | None = None) -> InspectResult: ...
class Progress:
    phase: str
    done: int
    total: int
    unit: str
    items: int
    item_unit: str
    bytes: int
class SkippedFile:
    path: str
    error: str
class Finding:
    path: str
    message: str
    record: int | None
    offset: int | None
class PackResult:
    records: int
    bytes: int
    shards: list[str]
    classes: list[str]
    skipped: list[SkippedFile]
    left_out: int
    resized: int
    turned: int
    continued: int
class IndexedFile:
    path: str
    bytes: int
    records: int
    index: str | None
    created: bool
    labels: dict[int, int] | None
    error: str | None
class IndexResult:
    files: list[IndexedFile]
class VerifyResult:
    files: int
    bytes: int
    records: int
    images: int
    left_out: int
    bad: list[Finding]
    damaged: list[Finding]
class InspectResult:
    files: int
    bytes: int
    left_out: int
    records: int
    record_bytes: dict[str, float] | None
    examples: int
    features: dict[str, dict[str, Any]]
    labels: dict[str, Any] | None
    damaged: int
    first_damage: Finding | None
    images: dict[str, Any] | None
    folders: dict[str, int]
