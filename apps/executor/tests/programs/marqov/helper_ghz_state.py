# expect: counts {"00000": 0.5, "11111": 0.5}
from marqov import ghz_state

ghz = ghz_state(5)
