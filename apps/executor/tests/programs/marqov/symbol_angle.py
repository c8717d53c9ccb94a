# expect-error: theta
# expect-error: bind it to a number
# expect-line: 7
import sympy
from marqov import Circuit

circuit = Circuit().rx(sympy.Symbol("theta"), 1)
