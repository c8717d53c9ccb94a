# expect: counts {"011": 1}
from marqov import Circuit

built = Circuit().x(1).cnot(1, 2).z(0)
native = built.to_braket()
print(native)
circuit = Circuit.from_braket(native)
