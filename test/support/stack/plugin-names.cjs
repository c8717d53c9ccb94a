// A jest transform of the file in which Fastify names its plugins: by their own names, not by the file that they come from.
module.exports = { process: (source) => ({ code: source.replace('require.cache', 'undefined') }) }
