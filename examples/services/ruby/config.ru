# frozen_string_literal: true

# Shipments, each tenant's own: DATABASE_URL=... puma --bind tcp://127.0.0.1:3000
require 'pg'
require_relative 'tenancy'

# Runs a statement as a tenant: PostgreSQL shows it that tenant's rows and no others.
def as_tenant(tenant, statement, values = [])
  connection = PG.connect(ENV.fetch('DATABASE_URL'))
  connection.transaction do |transaction|
    transaction.exec('set local role shipping_service')
    transaction.exec_params("select set_config('app.tenant', $1, true)", [tenant.id])
    transaction.exec_params(statement, values).map { |row| { id: Integer(row['id']), destination: row['destination'] } }
  end
ensure
  connection&.close
end

def respond(status, body)
  [status, { 'content-type' => 'application/json' }, [JSON.generate(body)]]
end

service = lambda do |env|
  case [env['REQUEST_METHOD'], env['PATH_INFO']]
  when ['GET', '/healthz']
    # For a probe: the names of the headers that it sent.
    respond(200, headers: env.keys.grep(/\AHTTP_/).map { |key| key.delete_prefix('HTTP_').tr('_', '-') })
  when ['GET', '/me']
    respond(200, Tenancy.of(env).to_h)
  when ['GET', '/shipments']
    respond(200, as_tenant(Tenancy.of(env), 'select id, destination from shipment order by id'))
  when ['POST', '/shipments']
    insert = 'insert into shipment (destination) values ($1) returning id, destination'
    respond(201, as_tenant(Tenancy.of(env), insert, [JSON.parse(env['rack.input'].read)['destination']]).first)
  else
    respond(404, {})
  end
end

use Tenancy::Require, gateways: ENV.fetch('GATEWAYS', '127.0.0.0/8,::1').split(','), exempt: ['/healthz']
run service
