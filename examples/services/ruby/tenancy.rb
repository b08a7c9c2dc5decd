# frozen_string_literal: true

require 'ipaddr'
require 'json'

# For whom a request is, as the gateway says it. Copy this file into your service (Rails: lib/tenancy.rb; Sinatra, any Rack application):
#
#   config.middleware.insert_before 0, Tenancy::Require   # Rails, in config/application.rb
#   use Tenancy::Require                                  # config.ru
#   tenant = Tenancy.of(env)                              # Rails: Tenancy.of(request.env)
#
# The headers are worth what the network is worth: this rejects what does not come from the gateway's addresses. It belongs
# outside of whatever changes the address or the path of a request by its headers.
module Tenancy
  UUID = /\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/
  KEY = 'tenancy.tenant'

  # What the gateway says of a request. id: UUID of the account that the request operates on, every query is about its rows.
  # external_id: nil if it has none. parent_id: UUID of its parent, or its own. caller_id: UUID of the account whose key was used,
  # for audits. request_id: names the request in the gateway's log.
  Tenant = Struct.new(
    :id, :external_id, :parent_id, :parent_external_id, :caller_id, :key_id, :scopes, :request_id, keyword_init: true
  )

  # The request is none that the gateway has passed on.
  class NotFromGateway < StandardError; end

  # The tenant of a request. Raises KeyError if its path is exempt or Require is not used.
  def self.of(env)
    env.fetch(KEY)
  end

  # Rejects requests that the gateway has not passed on, with 403, and puts a Tenant into the others' env.
  class Require
    # gateways: addresses and networks of the gateway. prefix: headers.prefix of the gateway. exempt: paths, such as '/healthz',
    # that may be requested from anywhere, without that of a mounted application (SCRIPT_NAME): their env has no tenant, and none
    # of the headers that only the gateway may set. Each is compared with the path as it was sent; one that is spelled in another
    # way is not exempt.
    def initialize(app, gateways: ['127.0.0.0/8', '::1'], prefix: 'X-Service-', exempt: [])
      @app = app
      @gateways = gateways.map { |gateway| IPAddr.new(gateway) }
      @prefix = prefix.downcase
      @exempt = exempt
    end

    def call(env)
      exempt?(env) ? env.delete_if { |key, _| reserved?(key) } : env[KEY] = read(env)
    rescue NotFromGateway => e
      reject(e.message)
    else
      @app.call(env)
    end

    private

    def exempt?(env)
      path = env['PATH_INFO'].to_s
      # Without the target as it was sent nobody knows how the path was spelled.
      sent = env['REQUEST_URI'].to_s.split('?', 2).first
      @exempt.include?(path) && sent == env['SCRIPT_NAME'].to_s + path
    end

    # Whether a program could take this part of env for something that only the gateway may set.
    def reserved?(key)
      return key == KEY unless key.start_with?('HTTP_')

      name = plain(key.delete_prefix('HTTP_'))
      name.start_with?(plain(@prefix)) || name == 'x-request-id'
    end

    def plain(name)
      name.downcase.gsub(/[^a-z0-9]/, '-')
    end

    def read(env)
      raise NotFromGateway, 'This request did not come through the gateway.' unless from_gateway?(env['REMOTE_ADDR'])

      Tenant.new(
        id: required(env, "#{@prefix}resolved-tenant", UUID),
        external_id: optional(env, "#{@prefix}resolved-external-id"),
        parent_id: required(env, "#{@prefix}parent-tenant", UUID),
        parent_external_id: optional(env, "#{@prefix}parent-external-id"),
        caller_id: required(env, "#{@prefix}caller-tenant", UUID),
        key_id: required(env, "#{@prefix}caller-key", UUID),
        scopes: required(env, "#{@prefix}caller-scopes").split,
        request_id: required(env, 'x-request-id')
      )
    end

    def from_gateway?(address)
      peer = IPAddr.new(address.to_s).native
      @gateways.any? { |gateway| gateway.include?(peer) }
    rescue IPAddr::Error
      false
    end

    def optional(env, name)
      value = env["HTTP_#{name.upcase.tr('-', '_')}"]
      # Servers join a header that was sent twice with a comma, which no value of the gateway holds.
      raise NotFromGateway, "There is more than one #{name}." if value&.include?(',')

      value
    end

    def required(env, name, form = nil)
      value = optional(env, name)
      raise NotFromGateway, "There is no valid #{name}." if value.nil? || (form && !form.match?(value))

      value
    end

    def reject(detail)
      body = JSON.generate(type: 'about:blank', title: 'Forbidden', status: 403, detail: detail)
      [403, { 'content-type' => 'application/problem+json' }, [body]]
    end
  end
end
