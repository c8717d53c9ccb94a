# expect-error: no network
# expect-line: 6
from marqov import Circuit
from marqov.platform import MarqovClient

client = MarqovClient(api_key="k", base_url="http://example.com"); job = client.submit(Circuit().h(0), backend="local")
