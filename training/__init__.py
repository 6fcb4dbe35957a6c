"""Programs that train agents on logtriage. Not part of the package; each says what it needs."""

import sys

from training.common.extras import tell_of_missing_extras

if sys.argv[:1] == ["-m"]:  # a program of this package is being run
    tell_of_missing_extras()
