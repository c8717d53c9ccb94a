# expect: counts {"0001": 0.5, "0000": 0.5}
from marqov import Circuit

circuit = Circuit().h(3)
