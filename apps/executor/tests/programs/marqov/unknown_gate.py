# expect-error: AttributeError
# expect-error: 'toffoli'
# expect-line: 6
from marqov import Circuit

circuit = Circuit().h(0).h(1).toffoli(0, 1, 2)
