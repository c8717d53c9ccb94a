# expect-error: ValueError
# expect-line: 5
from marqov import Circuit

circuit = Circuit().h(-1)
