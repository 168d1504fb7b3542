-- The load of serve.py, for wrk. load.py calls it and describes the environment variables.
--
-- Closed loop (LOAD_RATE is 0): every connection sends its next request when it has the answer to the last.
--
-- Open loop: wrk runs with one connection per thread (-t N -c N), so that request() and response() of a thread
-- alternate. All threads share one Poisson schedule. A free thread takes the next arrival, sleeps in request()
-- until its time, sends it, and notes the time of the answer. Latency counts from the scheduled time, so that a
-- slow answer also counts for the requests that it holds up (no coordinated omission). wrk's own delay() is not
-- used: it takes whole milliseconds, and its timer is late by up to one.

local ffi = require("ffi")
ffi.cdef([[
typedef struct { double scheduled, sent, answered, status; } arrival;
typedef struct {
  char mutex[64];
  int64_t taken, arrivals, requests, broken;
  double start;
  arrival *schedule;
  char *bytes;
  int64_t *ends;
} shared_state;
typedef struct { long seconds, nanoseconds; } moment;
void *calloc(size_t count, size_t size);
int pthread_mutex_lock(void *mutex);
int pthread_mutex_unlock(void *mutex);
int clock_gettime(int clock, moment *now);
int clock_nanosleep(int clock, int flags, const moment *wake, moment *rest);
]])

local C, MONOTONIC, ABSOLUTE = ffi.C, 1, 1
local RATE, SECONDS = tonumber(os.getenv("LOAD_RATE")), tonumber(os.getenv("LOAD_SECONDS"))
local moment = ffi.new("moment")

local function clock()
  C.clock_gettime(MONOTONIC, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) * 1e-9
end

local function sleep_until(time)
  moment.seconds = math.floor(time)
  moment.nanoseconds = math.floor((time - math.floor(time)) * 1e9)
  C.clock_nanosleep(MONOTONIC, ABSOLUTE, moment, nil)
end

local function allocate(kind, count)
  return ffi.cast(kind .. "*", C.calloc(count, ffi.sizeof(kind)))
end

-- In the main thread -----------------------------------------------------------------------------------------

local state, threads

local function read_requests()
  -- Lines "LENGTH\n", each followed by that many bytes of a whole HTTP request.
  local file = assert(io.open(os.getenv("LOAD_REQUESTS"), "rb"))
  local requests = {}
  for length in function() return file:read("*l") end do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
  local all = table.concat(requests)
  state.requests = #requests
  state.bytes = allocate("char", #all)
  ffi.copy(state.bytes, all, #all)
  state.ends = allocate("int64_t", #requests + 1)
  for i, bytes in ipairs(requests) do state.ends[i] = state.ends[i - 1] + #bytes end
end

local function plan_arrivals()
  math.randomseed(tonumber(os.getenv("LOAD_SEED")))
  state.start = clock() + tonumber(os.getenv("LOAD_HEAD_START"))
  local times, time = {}, state.start - math.log(1 - math.random()) / RATE
  while time < state.start + SECONDS do
    times[#times + 1] = time
    time = time - math.log(1 - math.random()) / RATE
  end
  state.arrivals = #times
  state.schedule = allocate("arrival", #times)
  for i, at in ipairs(times) do state.schedule[i - 1].scheduled = at end
end

function setup(thread)
  if not state then
    threads, state = 0, allocate("shared_state", 1)
    read_requests()
    if RATE > 0 then plan_arrivals() end
  end
  thread:set("number", threads)
  thread:set("address", tonumber(ffi.cast("intptr_t", state)))
  threads = threads + 1
end

function done(summary, latency)
  if RATE > 0 then
    local out = assert(io.open(os.getenv("LOAD_OUT"), "wb"))
    out:write(ffi.string(state.schedule, state.arrivals * ffi.sizeof("arrival")))
    out:close()
  end
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "seconds": %f, "refused": %d, "lost": %d, "broken": %d, "p50": %f, "p99": %f}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    tonumber(state.broken), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end

-- In the other threads ---------------------------------------------------------------------------------------

local calls, current = 0, nil

function init()
  state = ffi.cast("shared_state*", ffi.cast("intptr_t", address))
  if RATE == 0 then response = nil end -- wrk does not have to collect headers and bodies then
end

local function bytes_of(index)
  local i = index % tonumber(state.requests)
  return ffi.string(state.bytes + state.ends[i], state.ends[i + 1] - state.ends[i])
end

local function take()
  C.pthread_mutex_lock(state.mutex)
  local index = tonumber(state.taken)
  state.taken = index + 1
  C.pthread_mutex_unlock(state.mutex)
  return index < tonumber(state.arrivals) and index or nil
end

function request()
  calls = calls + 1
  if RATE == 0 then return bytes_of(number * 997 + calls) end
  if number == 0 and calls == 1 then return bytes_of(0) end -- wrk checks the script and sends nothing
  current = current or take()
  if not current then return bytes_of(0) end -- fewer arrivals than threads; load.py prevents it
  local arrival = state.schedule[current]
  if arrival.sent > 0 then -- the connection broke without an answer: send the same request again
    C.pthread_mutex_lock(state.mutex)
    state.broken = state.broken + 1
    C.pthread_mutex_unlock(state.mutex)
  else
    if clock() < arrival.scheduled then sleep_until(arrival.scheduled) end
    arrival.sent = clock()
  end
  return bytes_of(current)
end

function response(status)
  local arrival = state.schedule[current]
  arrival.answered, arrival.status = clock(), status
  current = take()
  if not current then wrk.thread:stop() end
end
