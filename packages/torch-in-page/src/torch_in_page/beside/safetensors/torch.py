"""safetensors for a page: reading and writing tensors."""

from torch.safetensors_files import load, load_file, save, save_file

__all__ = ["load", "load_file", "save", "save_file"]
