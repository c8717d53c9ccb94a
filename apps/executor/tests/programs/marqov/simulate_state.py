# expect: counts {"11": 1}
# expect-stdout: state
from marqov import Circuit

c = Circuit().x(0).cx(0, 1)
print("state", c.simulate().tensor.ravel())
