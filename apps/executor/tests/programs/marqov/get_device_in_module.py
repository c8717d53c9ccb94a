# expect: counts {"1": 1}
import marqov
from marqov.device import get_device

dev = get_device({"backend": backend})  # noqa: F821
dev.run(marqov.Circuit().x(0))
