"""The energy that an NVIDIA GPU uses, from the driver's management library (NVML)."""

from __future__ import annotations

import ctypes

LIBRARY = "libnvidia-ml.so.1"


class GpuEnergy:
    """Reads the energy counter of the GPU with a UUID, such as ``GPU-8f0c…``.

    The counter is of the whole GPU, which other processes may share. GPUs before Volta have none.
    """

    def __init__(self, uuid: str, library: str = LIBRARY) -> None:
        self._nvml: ctypes.CDLL | None = None
        self._handle = ctypes.c_void_p()
        try:
            nvml = ctypes.CDLL(library)
            opened = nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByUUID(
                ctypes.c_char_p(uuid.encode("ascii")), ctypes.byref(self._handle)
            )
        except (OSError, AttributeError):  # no driver, or one without these functions
            return
        self._nvml = None if opened else nvml

    def joules(self) -> float | None:
        """Return the energy since the driver was loaded, or None if it is unknown."""
        if self._nvml is None:
            return None
        millijoules = ctypes.c_ulonglong()
        try:
            failed = self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._handle, ctypes.byref(millijoules))
        except AttributeError:
            return None
        return None if failed else millijoules.value / 1000
