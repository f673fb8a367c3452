import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { confirmedPath } from '../../dashboard/src/shell/paths.ts'
import { oauthRemedies } from '../../scripts/docs/oauth-remedies.ts'
import { errorCodes, errorRow } from '../../src/errors/catalogue.ts'
import { railNames } from '../../src/lib/rail-names.ts'
import type { CallOptions, Json } from '../harness/client.ts'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, newWallet, signIn, walletMessage } from '../harness/people.ts'
import { openService } from '../harness/service.ts'

// People's mistakes, and the answer to each: the fault, and what to send instead.

const service = await openService()
const person = await signIn(service.api)
const stranger = await signIn(service.api)
const key = await createKey(person)
const beneficiaryId = await newBeneficiary(person.api)
const foreignBeneficiaryId = await newBeneficiary(stranger.api)
await credit(service, person.accountId, 100_000n)

type Expected = { status: number; error: string; message: string | RegExp; param?: string; headers?: Record<string, string> }
type Mistake = [
  what: string,
  request: () => { method?: string; path: string; body?: unknown } & CallOptions,
  status: number,
  error: string,
  message: string | RegExp,
  param?: string,
]

const check = (answer: { status: number; body: Json; headers: Headers }, expected: Expected) => {
  const { status, error, message, param } = expected
  expect([answer.status, answer.body?.error, answer.body?.message]).toEqual([
    status,
    error,
    typeof message === 'string' ? message : expect.stringMatching(message),
  ])
  expect(answer.body.details.param).toBe(param)
  expect(Array.isArray(answer.body.details.fields)).toBe(status === 400)
  expect(answer.body.details.doc_url).toBe(`${service.api.url}/docs/errors/${error}`)
  expect(answer.body.details.request_id).toBe(answer.headers.get('x-request-id'))
}

const tryAll = (mistakes: readonly Mistake[]) =>
  test.each(mistakes)('%s', async (_what, request, status, error, message, param) => {
    const { method = 'GET', path, ...options } = request()
    const anonymous = options.bearer === undefined && options.cookie === undefined && options.headers === undefined
    const api = anonymous ? key.api : service.api
    check(await api.call(options.body === undefined && options.raw === undefined ? method : 'POST', path, options), {
      status,
      error,
      message,
      ...(param !== undefined && { param }),
    })
  })

const payment = (fields: Record<string, unknown>) => ({
  path: '/v1/payments',
  body: { beneficiary_id: beneficiaryId, amount_minor: '5000', ...fields },
})
const topup = (fields: Record<string, unknown>) => ({
  path: '/v1/topups/initiate',
  body: { amount_minor: '5000', phone_number: '0712345678', ...fields },
})
const payee = (fields: Record<string, unknown>) => ({
  path: '/v1/beneficiaries',
  body: { type: 'supplier', display_name: 'Acme', payment_rail: 'MPESA_B2C', destination: '0712345678', ...fields },
})
const policy = (fields: Record<string, unknown>) => ({ path: '/v1/spending-policies', body: { name: 'A policy', ...fields } })

describe('the address', () => {
  // biome-ignore format: a row each
  tryAll([
    ['/v1 is missing', () => ({ path: '/payments' }), 404, 'not_found', 'There is no such path. Did you mean /v1/payments?'],
    ['/v1 is missing, in a POST', () => ({ path: '/payments', body: {} }), 404, 'not_found', /Did you mean \/v1\/payments\?$/],
    ['another version', () => ({ path: '/v2/payments' }), 404, 'not_found', /Did you mean \/v1\/payments\?$/],
    ['a prefix of another service', () => ({ path: '/api/v1/payments' }), 404, 'not_found', /Did you mean \/v1\/payments\?$/],
    ['a slash at the end', () => ({ path: '/v1/payments/' }), 404, 'not_found', 'There is no such path: leave the slash at its end out.'],
    ['upper case', () => ({ path: '/V1/Payments' }), 404, 'not_found', /Did you mean \/v1\/payments\?$/],
    ['a noun in the singular', () => ({ path: '/v1/payment' }), 404, 'not_found', 'There is no such path. Did you mean /v1/payments?'],
    ['the same with an id', () => ({ path: '/v1/beneficiary/ben_01h455vb4pex5vsknk084sn02q' }), 404, 'not_found', 'There is no such path. Did you mean /v1/beneficiaries/ben_01h455vb4pex5vsknk084sn02q?'],
    ['a noun with an underscore', () => ({ path: '/v1/payment_batches' }), 404, 'not_found', 'There is no such path. Did you mean /v1/payment-batches?'],
    ['a typing error', () => ({ path: '/v1/benefciaries' }), 404, 'not_found', 'There is no such path. Did you mean /v1/beneficiaries?'],
    ['a space after an id', () => ({ path: `/v1/beneficiaries/${beneficiaryId}%20` }), 404, 'not_found', /the id has a space or a character that is not shown: send "ben_\w+"\.$/],
    ['webhooks, which there are none of', () => ({ path: '/v1/webhooks' }), 404, 'not_found', 'There is no such path. Did you mean /v1/notifications/stream?'],
    ['payouts', () => ({ path: '/v1/payouts' }), 404, 'not_found', 'There is no such path. Did you mean /v1/payments?'],
    ['payouts as a form', () => ({ path: '/v1/payouts', raw: 'amount=5000', bearer: key.key, headers: { 'content-type': 'application/x-www-form-urlencoded' } }), 404, 'not_found', 'There is no such path. Did you mean /v1/payments?'],
    ['payouts with a body that is not JSON', () => ({ path: '/v1/payouts', raw: '{', bearer: key.key, headers: { 'content-type': 'application/json' } }), 404, 'not_found', 'There is no such path. Did you mean /v1/payments?'],
    ['payouts with a compressed body', () => ({ path: '/v1/payouts', raw: '{}', bearer: key.key, headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } }), 404, 'not_found', 'There is no such path. Did you mean /v1/payments?'],
    ['a list of top-ups, which is the history', () => ({ path: '/v1/topups' }), 404, 'not_found', 'There is no such path. Did you mean /v1/topups/initiate or /v1/accounts/me/history?type=topup?'],
    ['the balance by itself', () => ({ path: '/v1/balance' }), 404, 'not_found', 'There is no such path. Did you mean /v1/accounts/me or, for a team, /v1/workspaces/current?'],
    ['nothing like a path', () => ({ path: '/v1/nothing' }), 404, 'not_found', /^There is no such path\. GET \/openapi\.json/],
    ['a method that the path does not take', () => ({ method: 'PUT', path: '/v1/payments' }), 405, 'method_not_allowed', 'PUT is not a method of this path; it supports POST, GET, HEAD.'],
    ['DELETE where nothing is deleted', () => ({ method: 'DELETE', path: '/v1/workspaces/current' }), 405, 'method_not_allowed', /it supports GET, HEAD, PUT, PATCH\.$/],
    ['an id in upper case', () => ({ path: `/v1/beneficiaries/${beneficiaryId.toUpperCase()}` }), 404, 'not_found', /the id must be lowercase: send "ben_\w+"\.$/],
    ['the id of something else', () => ({ path: '/v1/payments/ben_01h455vb4pex5vsknk084sn02q' }), 404, 'not_found', /the id begins with ben_, which is another kind of id; send one that begins with pay_\.$/],
    ['an id that is none', () => ({ path: '/v1/payments/42' }), 404, 'not_found', 'There is no such resource in the workspace "Personal".'],
    ['an id that names nothing', () => ({ path: '/v1/payments/pay_01h455vb4pex5vsknk084sn02q' }), 404, 'not_found', 'There is no such resource in the workspace "Personal".'],
    ['a key that is not there', () => ({ path: '/v1/accounts/me/api-keys/key_01h455vb4pex5vsknk084sn02q', cookie: person.cookie }), 404, 'not_found', 'There is no such resource.'],
  ])

  test('405 lists the methods that the path takes', async () => {
    const answer = await key.api.call('PUT', '/v1/payments')
    expect(answer.headers.get('allow')).toBe('POST, GET, HEAD')
  })
})

describe('the credential', () => {
  const secret = (kind: string) => `service_${kind}_${'0'.repeat(64)}`
  const token = secret('live')
  // biome-ignore format: a row each
  tryAll([
    ['none', () => ({ path: '/v1/payments', headers: {} }), 401, 'authentication_required', 'Authentication is required: send an API key or an access token as "Authorization: Bearer service_live_…", or sign in.'],
    ['in X-Api-Key', () => ({ path: '/v1/payments', headers: { 'x-api-key': token } }), 401, 'authentication_required', 'The header x-api-key is not supported: send the key as "Authorization: Bearer service_live_…".', 'x-api-key'],
    ['in the address', () => ({ path: `/v1/payments?api_key=${token}`, headers: {} }), 401, 'authentication_required', /^A credential in the address \(api_key\) is not accepted/, 'api_key'],
    ['without the word Bearer', () => ({ path: '/v1/payments', headers: { authorization: token } }), 401, 'invalid_token', /^The word "Bearer" is missing/],
    ['as Basic', () => ({ path: '/v1/payments', headers: { authorization: 'Basic dTpw' } }), 401, 'invalid_token', 'The Authorization header must be "Bearer" and one token.'],
    ['of a variable that is not set', () => ({ path: '/v1/payments', bearer: 'undefined' }), 401, 'invalid_token', 'The key has no value: set PAYMENTS_API_KEY, or where your program reads the key from.'],
    ['of a shell without the variable', () => ({ path: '/v1/payments', headers: { authorization: 'Bearer ' } }), 401, 'invalid_token', /^The key has no value: set PAYMENTS_API_KEY/],
    ['of an example that was not filled in', () => ({ path: '/v1/payments', bearer: '<your-key>' }), 401, 'invalid_token', /^The key has no value/],
    ['for tests', () => ({ path: '/v1/payments', bearer: 'service_test_123' }), 401, 'invalid_token', 'There are no test keys: each deployment has its own keys (service_live_…), and one with simulated providers moves no money.'],
    ['of another service', () => ({ path: '/v1/payments', bearer: 'sk_live_123' }), 401, 'invalid_token', 'The token does not have the form of a token of this service.'],
    ['a refresh token', () => ({ path: '/v1/payments', bearer: secret('ort') }), 401, 'invalid_token', 'This is a refresh token: exchange it for an access token at POST /v1/oauth/token.'],
    ['an authorization code', () => ({ path: '/v1/payments', bearer: secret('oac') }), 401, 'invalid_token', /^This is an authorization code: exchange it/],
    ['a device code', () => ({ path: '/v1/payments', bearer: secret('odc') }), 401, 'invalid_token', /^This is a device code: exchange it/],
    ['the secret of a client', () => ({ path: '/v1/payments', bearer: secret('ocs') }), 401, 'invalid_token', /^This is the secret of an OAuth client/],
    ['an invitation', () => ({ path: '/v1/payments', bearer: secret('inv') }), 401, 'invalid_token', /^This is an invitation: sign in/],
    ['a dashboard token for MCP', () => ({ method: 'POST', path: '/mcp', body: {}, bearer: secret('dash') }), 401, 'invalid_token', /^A dashboard token is not accepted here/],
    ['a key that does not exist', () => ({ path: '/v1/payments', bearer: token }), 401, 'invalid_token', 'The API key is not known.'],
    ['a workspace that is not there', () => ({ path: '/v1/payments', cookie: person.cookie, headers: { 'workspace-id': 'wsp_01h455vb4pex5vsknk084sn02q' } }), 404, 'not_found', 'Workspace-Id: there is no such resource, or this credential may not read it.', 'Workspace-Id'],
    ['a workspace whose variable is not set', () => ({ path: '/v1/payments', cookie: person.cookie, headers: { 'workspace-id': '' } }), 400, 'invalid_request', 'Workspace-Id: must not be empty: send an id, or leave the header out', 'Workspace-Id'],
    ['a workspace that is no id', () => ({ path: '/v1/payments', bearer: key.key, headers: { 'workspace-id': 'foo' } }), 400, 'invalid_request', 'Workspace-Id: must be an id that begins with wsp_', 'Workspace-Id'],
    ['the id of an account as the workspace', () => ({ path: '/v1/payments', bearer: key.key, headers: { 'workspace-id': person.accountId } }), 400, 'invalid_request', /^Workspace-Id: begins with acc_, .* send one that begins with wsp_$/, 'Workspace-Id'],
    ['a key where only a person may act', () => ({ path: '/v1/accounts/me/passkeys' }), 403, 'forbidden', "An API key or an agent's token cannot do this: sign in as a person."],
    ['a key without the permission', () => ({ method: 'POST', path: '/v1/workspaces/current/freeze' }), 403, 'forbidden', 'This needs the permission workspace.manage.'],
    ['a key where a person is needed', () => ({ path: '/v1/admin/accounts' }), 403, 'admin_required', /administrator/],
  ])
})

describe('money', () => {
  // biome-ignore format: a row each
  tryAll([
    ['a number', () => payment({ amount_minor: 5000 }), 400, 'invalid_request', 'amount_minor: is a number: send "5000" if 50.00 is meant, "500000" if 5000.00 is meant; amounts are strings of minor units', 'amount_minor'],
    ['one thousand as a number', () => payment({ amount_minor: 1000 }), 400, 'invalid_request', /send "1000" if 10\.00 is meant, "100000" if 1000\.00 is meant/, 'amount_minor'],
    ['a space after it', () => payment({ amount_minor: '5000 ' }), 400, 'invalid_request', 'amount_minor: send "5000", a string of minor units', 'amount_minor'],
    ['a character that is not shown', () => payment({ amount_minor: '5000\u200b' }), 400, 'invalid_request', 'amount_minor: send "5000", a string of minor units', 'amount_minor'],
    ['thousands with a comma', () => payment({ amount_minor: '1,000.00' }), 400, 'invalid_request', 'amount_minor: has no decimal point: 1,000.00 is "100000" in minor units', 'amount_minor'],
    ['a limit without its unit', () => policy({ daily_limit: '5000' }), 400, 'invalid_request', 'daily_limit: is not a known field; did you mean "daily_limit_minor"?', 'daily_limit'],
    ['a limit of a key without its unit', () => ({ path: '/v1/accounts/me/api-keys', body: { name: 'K', spending_controls: { per_payment_limit: '5' } } }), 400, 'invalid_request', 'spending_controls.per_payment_limit: is not a known field; did you mean "per_payment_limit_minor"?', 'spending_controls.per_payment_limit'],
    ['a decimal point', () => payment({ amount_minor: '50.00' }), 400, 'invalid_request', 'amount_minor: has no decimal point: 50.00 is "5000" in minor units', 'amount_minor'],
    ['a number with a decimal point', () => payment({ amount_minor: 50.5 }), 400, 'invalid_request', /50\.5 is "5050" in minor units$/, 'amount_minor'],
    ['more digits than money has', () => payment({ amount_minor: '1'.repeat(19) }), 400, 'invalid_request', 'amount_minor: must be at most 999999999999999999', 'amount_minor'],
    ['far more digits', () => payment({ amount_minor: '1'.repeat(50) }), 400, 'invalid_request', /^amount_minor: must be a string of minor units/, 'amount_minor'],
    ['a currency beside it', () => payment({ amount_minor: 'KES 50' }), 400, 'invalid_request', /^amount_minor: must be a string of minor units: digits alone/, 'amount_minor'],
    ['below zero', () => payment({ amount_minor: '-5000' }), 400, 'invalid_request', /digits alone, without sign/, 'amount_minor'],
    ['nothing', () => payment({ amount_minor: '0' }), 400, 'invalid_request', 'amount_minor: must be above 0', 'amount_minor'],
    ['missing', () => payment({ amount_minor: undefined }), 400, 'invalid_request', 'amount_minor: is required', 'amount_minor'],
    ['null', () => payment({ amount_minor: null }), 400, 'invalid_request', /^amount_minor: must be a string/, 'amount_minor'],
    ['of a limit, as a number', () => policy({ daily_limit_minor: 100 }), 400, 'invalid_request', 'daily_limit_minor: is a number: send "100" if 1.00 is meant, "10000" if 100.00 is meant; amounts are strings of minor units', 'daily_limit_minor'],
    ['cents on a rail of whole shillings', () => payment({ amount_minor: '5050' }), 400, 'invalid_request', 'amount_minor: must be whole units of KES for MPESA_B2C', 'amount_minor'],
    ['more than the rail moves', () => payment({ amount_minor: '99999900' }), 400, 'invalid_request', /^amount_minor: MPESA_B2C moves KES 10\.00 to KES 250,000\.00/, 'amount_minor'],
    ['more than is there', () => payment({ amount_minor: '5000000' }), 402, 'insufficient_funds', 'The available balance, KES 1,000.00, does not cover this payment.'],
  ])

  test('402 says what is needed, and what is available only to those who may read the balance', async () => {
    const answer = await person.api.post('/v1/payments', payment({ amount_minor: '5000000' }).body)
    expect(answer.body.details).toMatchObject({ available_minor: '100000', requested_minor: '5000000' })
    const blind = await createKey(person, { permissions: ['payment.create'] })
    const refused = await blind.api.post('/v1/payments', payment({ amount_minor: '5000000' }).body)
    expect([refused.status, refused.body.details.available_minor]).toEqual([402, undefined])
    const needed = { amount_minor: '5000000', fee_minor: '0', required_minor: '5000000' }
    expect(refused.body.details).toMatchObject(needed)
    expect(refused.body.message).toBe('The available balance does not cover this payment.')
  })
})

describe('ids, times, numbers of phones and words', () => {
  // biome-ignore format: a row each
  tryAll([
    ['a payee that is not there', () => payment({ beneficiary_id: 'ben_01h455vb4pex5vsknk084sn02q' }), 404, 'not_found', 'beneficiary_id: there is no such resource, or this credential may not read it.', 'beneficiary_id'],
    ["another tenant's payee", () => payment({ beneficiary_id: foreignBeneficiaryId }), 404, 'not_found', 'beneficiary_id: there is no such resource, or this credential may not read it.', 'beneficiary_id'],
    ['a mandate that is not there', () => payment({ mandate_id: 'man_01h455vb4pex5vsknk084sn02q' }), 404, 'not_found', 'mandate_id: there is no such resource, or this credential may not read it.', 'mandate_id'],
    ['an id of another kind in a body', () => payment({ beneficiary_id: 'pay_01h455vb4pex5vsknk084sn02q' }), 400, 'invalid_request', /^beneficiary_id: begins with pay_, which is another kind of id/, 'beneficiary_id'],
    ['an id in upper case in a body', () => payment({ beneficiary_id: beneficiaryId.toUpperCase() }), 400, 'invalid_request', /^beneficiary_id: must be lowercase: send "ben_/, 'beneficiary_id'],
    ['a name instead of an id', () => payment({ beneficiary_id: 'Acme' }), 400, 'invalid_request', 'beneficiary_id: must be an id that begins with ben_', 'beneficiary_id'],
    ['a date without a time', () => ({ path: '/v1/payments?created_after=2026-01-31' }), 400, 'invalid_request', /^created_after: has no zone: send "2026-01-31T00:00:00Z"/, 'created_after'],
    ['a time without a zone', () => ({ path: '/v1/payments?created_after=2026-01-31T08:00:00' }), 400, 'invalid_request', /^created_after: has no zone: send "2026-01-31T08:00:00Z"/, 'created_after'],
    ['a date as it is written here', () => ({ path: '/v1/payments?created_after=31/01/2026' }), 400, 'invalid_request', /^created_after: must be an RFC 3339 date and time with a zone/, 'created_after'],
    ['a phone without a country', () => topup({ phone_number: '712345678' }), 400, 'invalid_request', 'phone_number: has no country: begin it with +254, or with 0', 'phone_number'],
    ['a phone of another country', () => topup({ phone_number: '+44 7700 900123' }), 400, 'invalid_request', /^phone_number: is not of Kenya/, 'phone_number'],
    ['a phone with a digit missing', () => topup({ phone_number: '071234567' }), 400, 'invalid_request', /^phone_number: must be a Kenyan mobile number/, 'phone_number'],
    ['a destination without a country', () => payee({ destination: '712345678' }), 400, 'invalid_request', 'destination: has no country: begin it with +254, or with 0', 'destination'],
    ['a rail in lower case', () => payee({ payment_rail: 'mpesa_b2c' }), 400, 'invalid_request', 'payment_rail: send "MPESA_B2C"', 'payment_rail'],
    ['a rail that is none', () => payee({ payment_rail: 'SWIFT' }), 400, 'invalid_request', `payment_rail: must be one of ${railNames.map((rail) => `"${rail}"`).join(', ')}`, 'payment_rail'],
    ['a rail with a typing error', () => payee({ payment_rail: 'MPESA_B2P' }), 400, 'invalid_request', /^payment_rail: did you mean "MPESA_B2[BC]"\? It must be one of "/, 'payment_rail'],
    ['a rail with spaces', () => payee({ payment_rail: 'mpesa b2c ' }), 400, 'invalid_request', 'payment_rail: send "MPESA_B2C"', 'payment_rail'],
    ['a status with a typing error, of many', () => ({ path: '/v1/payments?status=suceeded' }), 400, 'invalid_request', /did you mean "succeeded"\? It must be one of "/, 'status'],
    ['a permission with a typing error, of many', () => ({ path: '/v1/accounts/me/api-keys', body: { name: 'K', permissions: ['payments.read'] } }), 400, 'invalid_request', /^permissions\.0: did you mean "payment\.read"\? It must be one of "/, 'permissions.0'],
    ['a bank by its name', () => payee({ payment_rail: 'PESALINK', destination: '990102030405', bank_code: 'Equity Bank' }), 400, 'invalid_request', /^bank_code: "Equity Bank" is not the code of a bank that can be paid; GET \/v1\/banks lists them\. Did you mean 68 \(Equity/, 'bank_code'],
    ['a bank by a word of its name', () => payee({ payment_rail: 'PESALINK', destination: '990102030405', bank_code: 'kcb' }), 400, 'invalid_request', /Did you mean \w+ \(KCB/i, 'bank_code'],
    ['a time whose + became a space', () => ({ path: '/v1/payments?created_after=2026-01-31T08:00:00+03:00' }), 400, 'invalid_request', 'created_after: has a space where a "+" was: in an address a "+" is written as %2B, so send 2026-01-31T08:00:00%2B03:00', 'created_after'],
    ['a name with a character that is not shown', () => payee({ display_name: 'Acme\u200b Ltd' }), 400, 'invalid_request', 'display_name: has a character that is not shown (U+200B) after "Acme": leave it out', 'display_name'],
    ['a narrative that begins with a mark of direction', () => payment({ narrative: '\u202eEggs' }), 400, 'invalid_request', 'narrative: has a character that is not shown (U+202E) at its beginning: leave it out', 'narrative'],
    ['a name on two lines', () => payee({ display_name: 'Acme\nLtd' }), 400, 'invalid_request', 'display_name: has a character that is not shown (U+000A) after "Acme": leave it out', 'display_name'],
    ['an id that was copied with a space', () => payment({ beneficiary_id: ` ${beneficiaryId}` }), 400, 'invalid_request', /^beneficiary_id: has a space or a character that is not shown: send "ben_/, 'beneficiary_id'],
    ['an id with a character that is not shown', () => payment({ beneficiary_id: `${beneficiaryId}\ufeff` }), 400, 'invalid_request', /^beneficiary_id: has a space or a character that is not shown: send "ben_/, 'beneficiary_id'],
    ['a bank account without its bank', () => payee({ payment_rail: 'PESALINK', destination: '990102030405' }), 400, 'invalid_request', 'bank_code: is required for a bank account', 'bank_code'],
  ])
})

describe('the shape', () => {
  // biome-ignore format: a row each
  tryAll([
    ['a filter that is not known', () => ({ path: '/v1/payments?statuss=failed' }), 400, 'invalid_request', 'statuss: is not a known query parameter; did you mean "status"?', 'statuss'],
    ['a page by its number', () => ({ path: '/v1/payments?page=2' }), 400, 'invalid_request', 'page: is not a known query parameter; did you mean "cursor"?', 'page'],
    ['an offset', () => ({ path: '/v1/payments?offset=50' }), 400, 'invalid_request', 'offset: is not a known query parameter; did you mean "cursor"?', 'offset'],
    ['a size of pages', () => ({ path: '/v1/payments?per_page=50' }), 400, 'invalid_request', 'per_page: is not a known query parameter; did you mean "limit"?', 'per_page'],
    ['a search', () => ({ path: '/v1/beneficiaries?search=acme' }), 400, 'invalid_request', 'search: is not a known query parameter; did you mean "q"?', 'search'],
    ['a first day by another name', () => ({ path: '/v1/payments?since=2026-01-01T00:00:00Z' }), 400, 'invalid_request', 'since: is not a known query parameter; did you mean "created_after"?', 'since'],
    ['a filter of another list', () => ({ path: '/v1/spending-policies?q=acme' }), 400, 'invalid_request', 'q: is not a known query parameter', 'q'],
    ['a parameter where there is none', () => ({ path: '/v1/accounts/me?expand=1' }), 400, 'invalid_request', 'expand: is not a known query parameter', 'expand'],
    ['a page that is too long', () => ({ path: '/v1/payments?limit=500' }), 400, 'invalid_request', 'limit: must be at most 100', 'limit'],
    ['a page of words', () => ({ path: '/v1/payments?limit=many' }), 400, 'invalid_request', /^limit: must be a(.*) number/, 'limit'],
    ['a cursor that was made up', () => ({ path: '/v1/payments?cursor=2' }), 400, 'invalid_cursor', 'The cursor is not valid for this list with these parameters.', 'cursor'],
    ['an event that is not known', () => ({ path: '/v1/notifications?after=evt_01h455vb4pex5vsknk084sn02q' }), 400, 'invalid_cursor', /^This event is not known/, 'after'],
    ['a field that is not known', () => payment({ amount: '5000' }), 400, 'invalid_request', 'amount: is not a known field; did you mean "amount_minor"?', 'amount'],
    ['an amount in major units under another name', () => payment({ amount_minor: undefined, amount: '10.00' }), 400, 'invalid_request', 'amount_minor: is required; amount: is not a known field; did you mean "amount_minor"? amount_minor: has no decimal point: 10.00 is "1000" in minor units'],
    ['a limit in major units without its unit', () => policy({ daily_limit: '50.00' }), 400, 'invalid_request', 'daily_limit: is not a known field; did you mean "daily_limit_minor"? daily_limit_minor: has no decimal point: 50.00 is "5000" in minor units', 'daily_limit'],
    ['a currency', () => payment({ currency: 'USD' }), 400, 'invalid_request', 'currency: is not a known field: all amounts are in the currency of this service, so leave it out', 'currency'],
    ['several fields that are not known', () => payment({ currency: 'KES', description: 'Eggs' }), 400, 'invalid_request', 'currency: is not a known field: all amounts are in the currency of this service, so leave it out; description: is not a known field; did you mean "narrative"?'],
    ['a list under another name', () => ({ path: '/v1/payment-batches', body: { payments: [] } }), 400, 'invalid_request', 'payments: is not a known field; did you mean "items"?', 'payments'],
    ['a list as rows', () => ({ path: '/v1/payment-batches', body: { rows: [] } }), 400, 'invalid_request', 'rows: is not a known field; did you mean "items"?', 'rows'],
    ['a phone as a number', () => payee({ destination: 722000999 }), 400, 'invalid_request', 'destination: must be a string: send it in quotes, with its leading zeros if it has any', 'destination'],
    ['a phone of a top-up as a number', () => topup({ phone_number: 254722000999 }), 400, 'invalid_request', 'phone_number: must be a string: send it in quotes, with its leading zeros if it has any', 'phone_number'],
    ['an account number as the code of a bank', () => payee({ payment_rail: 'PESALINK', destination: '990102030405', bank_code: '990102030405' }), 400, 'invalid_request', /^bank_code: is not the code of a bank that can be paid/, 'bank_code'],
    ['an id as a number', () => payment({ beneficiary_id: 5 }), 400, 'invalid_request', 'beneficiary_id: must be an id that begins with ben_', 'beneficiary_id'],
    ['a long code as a number', () => payment({ purpose_code: 12345 }), 400, 'invalid_request', 'purpose_code: must be a string', 'purpose_code'],
    ['a code as a number', () => payment({ purpose_code: 5 }), 400, 'invalid_request', 'purpose_code: must be a string', 'purpose_code'],
    ['a field in camel case', () => payment({ accountReference: 'A1' }), 400, 'invalid_request', 'accountReference: is not a known field; did you mean "account_reference"?', 'accountReference'],
    ['a description', () => payment({ description: 'Eggs' }), 400, 'invalid_request', 'description: is not a known field; did you mean "narrative"?', 'description'],
    ['a name of a payee', () => payee({ name: 'Acme', display_name: undefined }), 400, 'invalid_request', /name: is not a known field; did you mean "display_name"\?/],
    ['a phone of a payee', () => payee({ phone: '0712345678', destination: undefined }), 400, 'invalid_request', /phone: is not a known field; did you mean "destination"\?/],
    ['a phone of a payee as a list names it', () => payee({ msisdn: '0712345678', destination: undefined }), 400, 'invalid_request', /msisdn: is not a known field; did you mean "destination"\?/],
    ['a name of a payee as a list names it', () => payee({ employee_name: 'Acme', display_name: undefined }), 400, 'invalid_request', /employee_name: is not a known field; did you mean "display_name"\?/],
    ['a phone of a top-up', () => topup({ phone: '0712345678', phone_number: undefined }), 400, 'invalid_request', /phone: is not a known field; did you mean "phone_number"\?/],
    ['a field with a typing error', () => payment({ naratve: 'x' }), 400, 'invalid_request', 'naratve: is not a known field; did you mean "narrative"?', 'naratve'],
    ['a field that is missing', () => payee({ display_name: undefined }), 400, 'invalid_request', 'display_name: is required', 'display_name'],
    ['a field that is empty', () => payee({ display_name: '' }), 400, 'invalid_request', 'display_name: must not be empty', 'display_name'],
    ['a text that is too long', () => payment({ narrative: 'x'.repeat(141) }), 400, 'invalid_request', 'narrative: must have at most 140 characters', 'narrative'],
    ['a text of spaces', () => payment({ narrative: '  ' }), 400, 'invalid_request', 'narrative: must have something visible', 'narrative'],
    ['a reference of spaces in metadata', () => payment({ metadata: { invoice: ' ' } }), 400, 'invalid_request', 'metadata.invoice: must have something visible', 'metadata.invoice'],
    ['a name of metadata that is empty', () => payment({ metadata: { '': '17' } }), 400, 'invalid_request', 'metadata: a name in it must not be empty', 'metadata'],
    ['a name of metadata that turns the text around', () => payment({ metadata: { 'a\u202eb': '17' } }), 400, 'invalid_request', 'metadata: a name in it has a character that is not shown (U+202E) after "a": leave it out', 'metadata'],
    ['a field whose name turns the text around', () => payment({ 'nar\u202erative': 'x' }), 400, 'invalid_request', 'narrative: is not a known field; did you mean "narrative"?', 'narrative'],
    ['a list where an object belongs', () => payment({ metadata: ['17'] }), 400, 'invalid_request', 'metadata: must be an object, not a list', 'metadata'],
    ['a list as the body', () => ({ path: '/v1/payments', body: [] }), 400, 'invalid_request', 'body: must be an object, not a list', 'body'],
    ['a list of one text', () => payment({ narrative: ['Eggs'] }), 400, 'invalid_request', 'narrative: is given more than once, or as a list: send one value', 'narrative'],
    ['one status of several that is none', () => ({ path: '/v1/payments?status=failed,nope' }), 400, 'invalid_request', /^status: must be one of "scheduled", /, 'status'],
    ['no provider of a link', () => ({ path: '/v1/accounts/me/identities', body: {}, bearer: undefined, cookie: person.cookie }), 400, 'invalid_request', 'provider: is required', 'provider'],
    ['a provider of a link that is none', () => ({ path: '/v1/accounts/me/identities', body: { provider: 'facebook' }, bearer: undefined, cookie: person.cookie }), 400, 'invalid_request', /^provider: must be one of "/, 'provider'],
    ['a parameter that is not known, after a thousand others', () => ({ path: `/v1/payments?${'&'.repeat(1_000)}status=failed&nonsense=1` }), 400, 'invalid_request', 'nonsense: is not a known query parameter', 'nonsense'],
    ['a parameter twice', () => ({ path: '/v1/payments?limit=1&limit=2' }), 400, 'invalid_request', 'limit: is given more than once: send one value', 'limit'],
    ['a time twice', () => ({ path: '/v1/payments?created_after=2026-01-01T00:00:00Z&created_after=2026-01-02T00:00:00Z' }), 400, 'invalid_request', 'created_after: is given more than once: send one value', 'created_after'],
    ['one name of metadata twice', () => ({ path: '/v1/payments?metadata[a]=1&metadata[a]=2' }), 400, 'invalid_request', 'metadata.a: is given more than once: send one value', 'metadata.a'],
    ['more ids than a list takes', () => ({ path: `/v1/beneficiaries?id=${Array(101).fill('ben_01h455vb4pex5vsknk084sn02q').join(',')}` }), 400, 'invalid_request', 'id: must have at most 100 entries', 'id'],
    ['metadata without a name in a search', () => ({ path: '/v1/payments?metadata=2' }), 400, 'invalid_request', 'metadata: is written with a name: metadata[name]=value', 'metadata'],
    ['a day that is none', () => ({ path: '/v1/accounts/me/statement?from=abc' }), 400, 'invalid_request', 'from: must be a date such as "2026-03-01"', 'from'],
    ['a digest that is cut off', () => ({ path: '/v1/approvals/apr_01h455vb4pex5vsknk084sn02q/decide', body: { decision: 'approve', message_digest: '00' }, bearer: undefined, cookie: person.cookie }), 400, 'invalid_request', 'message_digest: must be a SHA-256 digest: 64 digits of 0-9 and a-f', 'message_digest'],
    ['a truth in quotes', () => policy({ separation_of_duties: 'true' }), 400, 'invalid_request', 'separation_of_duties: send true without quotes', 'separation_of_duties'],
    ['a count in quotes', () => policy({ required_approval_count: '2' }), 400, 'invalid_request', 'required_approval_count: send 2 without quotes', 'required_approval_count'],
    ['a list that is one', () => policy({ beneficiary_ids: 'ben_01h455vb4pex5vsknk084sn02q' }), 400, 'invalid_request', 'beneficiary_ids: must be a list', 'beneficiary_ids'],
    ['no body', () => ({ method: 'POST', path: '/v1/payments' }), 400, 'invalid_request', 'body: is required', 'body'],
    ['a body that is cut off', () => ({ path: '/v1/payments', raw: '{"beneficiary_id":' }), 400, 'invalid_request', 'body: must be valid JSON', 'body'],
    ['a form', () => ({ path: '/v1/payments', raw: 'amount_minor=5000', bearer: key.key, headers: { 'content-type': 'application/x-www-form-urlencoded' } }), 415, 'unsupported_media_type', 'The request body must be application/json.'],
    ['a list in CSV with the type that curl sends', () => ({ path: '/v1/payment-batches', raw: 'display_name,destination,amount', bearer: key.key, headers: { 'content-type': 'application/x-www-form-urlencoded' } }), 415, 'unsupported_media_type', 'The request body must be application/json, text/csv, application/csv or application/vnd.ms-excel.'],
    ['a list in CSV with a type that is none', () => ({ path: '/v1/payment-batches', raw: 'display_name,destination,amount', bearer: key.key, headers: { 'content-type': 'csv' } }), 415, 'unsupported_media_type', /text\/csv/],
    ['a key of idempotency that is too long', () => ({ ...payment({}), bearer: key.key, key: 'k'.repeat(256) }), 400, 'invalid_request', 'Idempotency-Key: must be 1 to 255 printable ASCII characters', 'Idempotency-Key'],
  ])

  test('several mistakes are listed together, and none of them is named as the only one', async () => {
    const answer = await key.api.post('/v1/payments', { amount_minor: 5, beneficiary: 'x' })
    expect(answer.body.message).toBe(
      'beneficiary_id: is required; amount_minor: is a number: send "5" if 0.05 is meant, "500" if 5.00 is meant; amounts are strings of minor units; beneficiary: is not a known field; did you mean "beneficiary_id"?',
    )
    expect(answer.body.details.fields).toEqual([
      { path: 'beneficiary_id', message: 'is required' },
      {
        path: 'amount_minor',
        message: 'is a number: send "5" if 0.05 is meant, "500" if 5.00 is meant; amounts are strings of minor units',
      },
      { path: 'beneficiary', message: 'is not a known field; did you mean "beneficiary_id"?' },
    ])
    expect(answer.body.details.param).toBeUndefined()
    const many = await key.api.post('/v1/payments', { ...answer.body, amount_minor: 5, a: 1, b: 2, c: 3 })
    expect(many.body.message).toMatch(/; and [1-9] more in details\.fields$/)
    const unknown = Object.fromEntries(Array.from({ length: 2_000 }, (_, nth) => [`amount_${nth}`, 1]))
    const most = await key.api.post('/v1/payments', unknown)
    expect(most.body.details.fields).toHaveLength(100)
    expect(most.body.details.fields.at(-1).message).toBe('is not a known field')
  })
})

describe('signatures', () => {
  test('a signature by another wallet is refused with the address of its signer, and without a request for a bearer', async () => {
    const [wallet, other] = [newWallet(), newWallet()]
    const message = await walletMessage(service.api, wallet)
    const signature = await other.signMessage({ message })
    const answer = await service.api.post('/v1/auth/wallet/verify', { message, signature })
    check(answer, {
      status: 401,
      error: 'invalid_signature',
      message:
        'The signature is not by the key of the address in the message. Signatures of contracts on chain 1 are not checked here.',
      param: 'signature',
    })
    expect(answer.body.details).toMatchObject({ recovered_address: other.address, expected: { address: wallet.address } })
    expect(answer.headers.get('www-authenticate')).toBeNull()
  })

  test('a signature by another wallet, linked or not, is refused for an approval too', async () => {
    await person.api.post('/v1/spending-policies', {
      name: 'Ask',
      approval_threshold_minor: '1000',
      beneficiary_ids: [beneficiaryId],
    })
    const held = await person.api.post('/v1/payments', payment({}).body)
    const path = `/v1/approvals/${held.body.approval_id}`
    const { message } = (await service.api.get(`${path}/message`)).body
    // The answer hides whether any account has the wallet.
    for (const wallet of [stranger.wallet, newWallet()]) {
      const signature = await wallet.signMessage({ message })
      const answer = await service.api.post(`${path}/decide-by-signature`, { decision: 'approve', signature })
      const { param, recovered_address: recovered } = answer.body.details
      expect([answer.status, param, recovered]).toEqual([401, 'signature', wallet.address])
      expect(answer.body.message).toContain('by a linked wallet of a person who may decide it')
      expect(answer.headers.get('www-authenticate')).toBeNull()
    }
  })
})

describe('OAuth follows its own specifications', () => {
  test('JSON to the token endpoint is an OAuth error that names the form type', async () => {
    const answer = await service.api.post('/v1/oauth/token', { grant_type: 'authorization_code' })
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    expect(answer.body.error_description).toContain('application/x-www-form-urlencoded')
    expect(answer.body.details.doc_url).toBe(`${service.api.url}/docs/errors/invalid_request`)
  })

  test('an unknown query parameter of an OAuth endpoint is ignored', async () => {
    expect((await service.api.get('/.well-known/oauth-authorization-server?utm=1')).status).toBe(200)
    expect(
      (await service.api.get('/v1/oauth/authorize?client_id=none&utm=1', { headers: { accept: 'application/json' } })).status,
    ).toBe(400)
  })
})

describe('a page of the dashboard', () => {
  test('is not sent to a program that forgot /v1', async () => {
    const answer = await key.api.get('/payments')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
    const browser = await service.api.get('/payments', { headers: { accept: 'text/html,application/xhtml+xml' } })
    expect([browser.status, browser.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const accept of ['text/html, application/json', 'application/json;q=0.5, text/html', 'text/html, */*'])
      expect((await service.api.get('/payments', { headers: { accept } })).status, accept).toBe(200)
    for (const accept of ['application/json, text/html;q=0.5', 'application/json, */*'])
      expect((await service.api.get('/payments', { headers: { accept } })).status, accept).toBe(404)
  })
})

test('every page of the dashboard is served at its own address, as it is opened by a link or loaded again', async () => {
  const router = await readFile(new URL('../../dashboard/src/pages.tsx', import.meta.url), 'utf8')
  const paths = [...router.matchAll(/<Route path="([^"]+)"/g)].map(([, path = '']) => path.replace(':id', 'any'))
  expect(paths.length).toBeGreaterThan(30)
  for (const path of [...paths, confirmedPath])
    expect((await service.api.get(path, { headers: { accept: 'text/html' } })).status, path).toBe(200)
})

describe('the page of a code', () => {
  test.each(errorCodes)('%s has a meaning and an advice, for a browser and for a program', async (code) => {
    const path = `/docs/errors/${code}`
    const text = await service.api.get(path)
    expect([text.status, text.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(text.text).toContain(errorRow(code).fix)
    const page = await service.api.get(path, { headers: { accept: 'text/html' } })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  })

  test.each(Object.entries(oauthRemedies))(
    '%s of OAuth has a meaning and a remedy, and leads to the guide',
    async (code, remedy) => {
      const { text } = await service.api.get(`/docs/errors/${code}`)
      expect(remedy).toMatch(/^[A-Z].*\.$/)
      for (const part of [`# ${code}`, remedy, '](/docs/guides/oauth)']) expect(text).toContain(part)
      const page = await service.api.get(`/docs/errors/${code}`, { headers: { accept: 'text/html' } })
      expect(page.text).toContain('href="/docs/guides/oauth"')
    },
  )

  test('the list has the codes, and an unknown code has no page', async () => {
    expect((await service.api.get('/docs/errors')).text).toContain('# duplicate'.slice(0, 2))
    expect((await service.api.get('/docs/errors/nonsense')).status).toBe(404)
  })
})
