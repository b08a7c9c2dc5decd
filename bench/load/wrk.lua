-- Tells wrk what to send, once, and prints what came of it as JSON. Lua runs per request only where requests act as one
-- sub-account after the other.
wrk.method = os.getenv("BENCH_METHOD") or "GET"
local bytes = tonumber(os.getenv("BENCH_BODY_BYTES") or "0")
if bytes > 0 then wrk.body = string.rep("x", bytes) end

local accounts = tonumber(os.getenv("BENCH_ACTING_ACCOUNTS") or "0")
if accounts > 0 then
  local formatted, sent = {}, 0
  -- wrk calls it once it knows the host and the headers of the command line.
  function init()
    for account = 1, accounts do
      wrk.headers["X-Service-Acting-Tenant"] = string.format("ext:customer-%d", account - 1)
      formatted[account] = wrk.format()
    end
  end
  function request()
    sent = sent + 1
    return formatted[sent % accounts + 1]
  end
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, e.connect + e.read + e.write + e.status + e.timeout))
end
