"""Programs that train agents on logtriage. Not part of the package; each says what it needs."""

import logging
import sys

from training.common.extras import tell_of_missing_extras

if sys.argv[:1] == ["-m"]:  # a program of this package is being run
    tell_of_missing_extras()

# PEFT imports bitsandbytes, which tells at every start of kernels that only 4-bit weights need.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
