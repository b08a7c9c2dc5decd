-- The gateway's rule for nginx: the key by its SHA-256, the acting header in its three forms, everything from one
-- shared dictionary. Facts never change here; keeping them right is what it leaves out.
local ffi = require("ffi")
local base64 = ngx.encode_base64
local facts = ngx.shared.facts

ffi.cdef([[unsigned char *SHA256(const unsigned char *data, size_t length, unsigned char *digest);]])
local digest = ffi.new("unsigned char[32]")

local writes = { POST = true, PUT = true, PATCH = true, DELETE = true }
local rule = {}

function rule.load(file)
  for line in io.lines(file) do
    local key, value = line:match("^(%S+) (.+)$")
    facts:set(key, value)
  end
end

local function sha256(text)
  ffi.C.SHA256(text, #text, digest)
  return base64(ffi.string(digest, 32))
end

-- Who calls: account, parent (or "-"), key id, scopes.
local function caller_of(authorization)
  if type(authorization) ~= "string" or authorization:sub(1, 7):lower() ~= "bearer " then return nil end
  local fact = facts:get("k:" .. sha256(authorization:sub(8)))
  if not fact then return nil end
  return fact:match("^(%S+) (%S+) (%S+) (%S*)$")
end

local function is_active(id)
  local fact = facts:get("a:" .. id)
  return fact and fact:sub(-7) == " active"
end

local function target_of(account, parent, acting, method)
  if parent ~= "-" then
    if acting == nil or acting == "self" or acting:lower() == account then return account end
    if acting:sub(1, 4) == "ext:" and facts:get("x:" .. parent .. ":" .. acting:sub(5)) == account then return account end
    return nil, 403
  end
  if acting == nil then
    if writes[method] and tonumber(facts:get("n:" .. account) or "1") > 0 then return nil, 400 end
    return account
  end
  if acting == "self" then return account end
  local id
  if acting:sub(1, 4) == "ext:" then
    id = facts:get("x:" .. account .. ":" .. acting:sub(5))
  elseif #acting == 36 then
    id = acting:lower()
  else
    return nil, 400
  end
  if id == account then return account end
  local fact = id and facts:get("a:" .. id)
  if not fact then return nil, 403 end
  local owner, status = fact:match("^(%S+) (%S+)$")
  if owner ~= account or status ~= "active" then return nil, 403 end
  return id
end

function rule.enforce()
  local var = ngx.var
  local account, parent, key_id, scopes = caller_of(var.http_authorization)
  if not account then
    ngx.header["WWW-Authenticate"] = "Bearer"
    return ngx.exit(401)
  end
  if not is_active(account) or (parent ~= "-" and not is_active(parent)) then return ngx.exit(403) end
  local resolved, rejected = target_of(account, parent, var.http_x_service_acting_tenant, var.request_method)
  if not resolved then return ngx.exit(rejected) end
  var.resolved = resolved
  var.caller = account
  var.key_id = key_id
  var.scopes = scopes
end

return rule
