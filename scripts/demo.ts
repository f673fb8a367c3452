import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { isLoopbackUrl } from '../src/lib/loopback.ts'
import { readEnvironment } from '../src/process/environment.ts'
import { createApi } from './demo/api.ts'
import { expectSame, expectStatus, text } from './demo/expect.ts'
import { openStream } from './demo/stream.ts'

// Plays the service's main job against a running server, as a newcomer's program would: over HTTP, with what the API documents.
// Ends with a failure as soon as an answer is not the one that was promised.

const { PUBLIC_URL, PORT, RAILS = 'sandbox' } = readEnvironment()
const url = PUBLIC_URL || `http://localhost:${PORT || 3000}`
const api = createApi(url)

let steps = 0
const step = (title: string) => {
  steps += 1
  console.log(`\n${String(steps).padStart(2)}  ${title}`)
}
const tell = (text: string) => console.log(`    ${text}`)
const money = (minor: unknown) => `KES ${(Number(minor) / 100).toFixed(2)}`

const play = async () => {
  if (!isLoopbackUrl(url) || RAILS !== 'sandbox')
    throw new Error(`it tops up and pays: it is for a service with simulated rails on this machine, not for ${url}`)
  const ready = await api.get('/readyz').catch(() => undefined)
  if (ready?.status !== 200) throw new Error(`nothing is ready at ${url}: run "npm start" first, in another terminal`)
  console.log(`The payments service at ${url}`)

  step('A wallet that nobody has seen before signs in (Sign-In with Ethereum)')
  const wallet = privateKeyToAccount(generatePrivateKey())
  const nonce = expectStatus('the nonce', await api.post('/v1/auth/wallet/nonce', { address: wallet.address }), 200)
  const message = text(nonce, 'message')
  const verified = await api.post('/v1/auth/wallet/verify', { message, signature: await wallet.signMessage({ message }) })
  expectSame('the outcome', expectStatus('signing in', verified, 200).outcome, 'account_created')
  const cookie =
    verified.headers
      .getSetCookie()
      .find((line) => line.startsWith('service_session='))
      ?.split(';')[0] ?? ''
  const owner = { cookie }
  const me = expectStatus('the account', await api.get('/v1/accounts/me', owner), 200)
  tell(`${wallet.address} is now ${text(me, 'id')}`)

  step('It listens to its notification stream')
  const stream = await openStream(url, owner)
  tell('GET /v1/notifications/stream is open')

  step('It makes an API key for its agent, with limits of its own')
  const spending_controls = { per_payment_limit_minor: '50000', daily_limit_minor: '80000' }
  const key = expectStatus(
    'the key',
    await api.post('/v1/accounts/me/api-keys', { name: 'Demo agent', spending_controls }, owner),
    201,
  )
  const plaintext = text(key, 'key')
  if (!/^service_live_[0-9a-f]{64}$/.test(plaintext)) throw new Error('the key does not have the documented form')
  await stream.waitFor('api_key.created', text(key, 'id'))
  const agent = { authorization: `Bearer ${plaintext}` }
  tell(
    `${plaintext.slice(0, 17)}… may pay ${money(50_000)} at once and ${money(80_000)} a day; this was the only time it was shown`,
  )

  step('It tops up by M-PESA: a prompt on the phone')
  const phone = { amount_minor: '100000', phone_number: '0712345678' }
  const topup = expectStatus('the top-up', await api.post('/v1/topups/initiate', phone, owner), 201)
  expectSame('the top-up’s status', topup.status, 'pending')
  tell(`${text(topup, 'id')} of ${money(100_000)} is pending`)
  await stream.waitFor('topup.succeeded', text(topup, 'id'))
  const paidIn = expectStatus('the top-up', await api.get(`/v1/topups/${text(topup, 'id')}`, owner), 200)
  expectSame('the top-up’s status', paidIn.status, 'succeeded')
  await expectBalance('100000', '0')
  tell(`succeeded with receipt ${text(paidIn, 'provider_receipt')}; available: ${money(100_000)}`)

  step('It adds somebody to pay')
  const payee = { type: 'person', display_name: 'Wanjiru Kamau', payment_rail: 'MPESA_B2C', destination: '0722000111' }
  const beneficiary = expectStatus('the beneficiary', await api.post('/v1/beneficiaries', payee, owner), 201)
  expectSame('the mask', beneficiary.destination_mask, '********0111')
  await stream.waitFor('beneficiary.created', text(beneficiary, 'id'))
  tell(`Wanjiru Kamau at ${text(beneficiary, 'destination_mask')}: the number is encrypted and never shown again`)

  step('It decides that payments from KES 200.00 need an approval')
  const rule = { name: 'Ask me first', approval_threshold_minor: '20000', required_approval_count: 1 }
  const policy = expectStatus('the policy', await api.post('/v1/spending-policies', rule, owner), 201)
  await stream.waitFor('policy.created', text(policy, 'id'))
  tell(`${text(policy, 'id')} is ${text(policy, 'status')}`)

  step('The agent pays KES 250.00 with its key')
  const order = { beneficiary_id: text(beneficiary, 'id'), amount_minor: '25000', narrative: 'Demo' }
  const once = { ...agent, 'idempotency-key': 'demo-payment' }
  const payment = expectStatus('the payment', await api.post('/v1/payments', order, once), 201)
  expectSame('the payment’s status', payment.status, 'pending_approval')
  const again = await api.post('/v1/payments', order, once)
  expectSame('the same request again', expectStatus('the payment again', again, 201), payment)
  await stream.waitFor('approval.requested', text(payment, 'approval_id'))
  await expectBalance('75000', '25000')
  tell(`${text(payment, 'id')} is held for approval, with ${money(25_000)} set aside; sent twice, it is still one payment`)

  step('The wallet approves it by signing the message of the server: no session, no key')
  const approval = text(payment, 'approval_id')
  const canonical = expectStatus('the message', await api.get(`/v1/approvals/${approval}/message?decision=approve`), 200)
  const toSign = text(canonical, 'message')
  for (const line of toSign.split('\n')) tell(`│ ${line}`)
  const signature = await wallet.signMessage({ message: toSign })
  const decided = await api.post(`/v1/approvals/${approval}/decide-by-signature`, {
    decision: 'approve',
    signature,
    address: wallet.address,
  })
  expectSame('the approval’s status', expectStatus('the decision', decided, 200).status, 'approved')
  await stream.waitFor('approval.approved', approval)

  step('The payment goes out through M-PESA B2C')
  await stream.waitFor('payment.succeeded', text(payment, 'id'))
  const paid = expectStatus('the payment', await api.get(`/v1/payments/${text(payment, 'id')}`, agent), 200)
  expectSame('the payment’s status', paid.status, 'succeeded')
  tell(`succeeded with receipt ${text(paid, 'provider_receipt')}`)

  step('The stream told every step, in order')
  const about = new Set([text(payment, 'id'), approval])
  const story = stream.told().filter((event) => about.has(String(event.data.id)))
  const expected = ['payment.created', 'approval.requested', 'approval.approved', 'payment.processing', 'payment.succeeded']
  expectSame(
    'the story of the payment',
    story.map((event) => event.type),
    expected,
  )
  tell(
    stream
      .told()
      .map((event) => event.type)
      .join(' → '),
  )

  step('History and balance add up')
  await expectBalance('75000', '0')
  const history = expectStatus('the history', await api.get('/v1/accounts/me/history', owner), 200)
  const entries = Array.isArray(history.data) ? history.data : []
  for (const entry of entries.toReversed())
    tell(
      `${text(entry, 'type').padEnd(16)} ${money(entry.amount_minor).padStart(14)}   leaves ${money(entry.available_after_minor)}`,
    )
  const sum = entries.reduce((total: bigint, entry) => total + BigInt(text(entry, 'amount_minor')), 0n)
  expectSame('the sum of the history', String(sum), '75000')
  stream.close()

  async function expectBalance(available: string, held: string) {
    const { balance } = expectStatus('the account', await api.get('/v1/accounts/me', owner), 200)
    expectSame('the balance', balance, { currency: 'KES', available_minor: available, held_minor: held })
  }
}

play().then(
  () => {
    console.log('\nEvery step went as promised.')
    process.exit(0)
  },
  (error: unknown) => {
    console.error(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}.`)
    process.exit(1)
  },
)
