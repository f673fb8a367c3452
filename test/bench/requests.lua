-- Reads "METHOD path bearer body" lines (tab between, {unique} is replaced) and sends them in turn. Says what was measured as JSON.
local lines, at, made, thread_id = {}, 0, 0, 0
local threads = {}

function setup(thread)
  thread:set("thread_id", #threads)
  table.insert(threads, thread)
end

function init(args)
  for line in io.lines(args[1]) do
    local method, path, credential, body = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$")
    table.insert(lines, { method = method, path = path, credential = credential, body = body })
  end
  run = args[2]
  at = thread_id
  refused = 0
end

function request()
  at = at + 1
  made = made + 1
  local line = lines[(at % #lines) + 1]
  local headers = {}
  if line.credential:sub(1, 7) == "cookie " then headers["cookie"] = "service_session=" .. line.credential:sub(8)
  elseif line.credential ~= "" then headers["authorization"] = "Bearer " .. line.credential end
  if line.body == "" then return wrk.format(line.method, line.path, headers) end
  headers["content-type"] = "application/json"
  headers["idempotency-key"] = run .. "-" .. thread_id .. "-" .. made
  return wrk.format(line.method, line.path, headers, line.body)
end

function done(summary, latency, requests)
  io.write(string.format('{"requests":%d,"seconds":%f,"refused":%d,"failed":%d,"meanMs":%f,"p50Ms":%f,"p99Ms":%f,"maxMs":%f}\n',
    summary.requests, summary.duration / 1e6, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency.mean / 1e3, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3))
end
