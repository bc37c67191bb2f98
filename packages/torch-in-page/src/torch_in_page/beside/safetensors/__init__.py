"""safetensors for a page: the files of the torch that is there."""

from torch.safetensors_files import SafetensorError, safe_open

__all__ = ["SafetensorError", "safe_open"]
__version__ = "0.0.0+page"
