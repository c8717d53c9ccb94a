# expect: counts {"01": 1}
# expect: shots 40
# expect-stdout: {'01': 40}
from marqov import Circuit, get_device

device = get_device(params)  # noqa: F821
counts = device.run(Circuit().x(1), shots=40)
print(counts)
