-- Tells wrk what to send, once, and prints what came of it as JSON. No Lua runs per request.
wrk.method = os.getenv("BENCH_METHOD") or "GET"
local bytes = tonumber(os.getenv("BENCH_BODY_BYTES") or "0")
if bytes > 0 then wrk.body = string.rep("x", bytes) end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, e.connect + e.read + e.write + e.status + e.timeout))
end
