# expect-error: get_device: the backend 'local' is not the job's, which is 'aer-statevector'; pass the job's params
# expect-line: 6
import marqov
from marqov.device import get_device

dev = get_device({"backend": "local"})
dev.run(marqov.Circuit().x(0))
