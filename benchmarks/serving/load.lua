-- The closed loop of serve.py, for wrk: a connection sends its next request when it has the answer to the last.
-- load.py calls it with LOAD_REQUESTS, a file of lines "LENGTH\n", each followed by that many bytes of a request.

local requests, calls, threads = {}, 0, 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init()
  local file = assert(io.open(os.getenv("LOAD_REQUESTS"), "rb"))
  for length in function() return file:read("*l") end do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
end

function request()
  calls = calls + 1
  return requests[(number * 997 + calls) % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "seconds": %f, "refused": %d, "lost": %d, "p50": %f}\n',
    summary.requests, summary.duration / 1e6, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50) / 1e3))
end
