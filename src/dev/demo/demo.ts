import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Payments } from '#client'
import { decideByWallet, signInWithWallet } from '#client/wallet'
import { playMonth } from './month.ts'
import { playPayday } from './payday.ts'
import { agreeTo, expectReady, expectSame, expectThere, followEvents, money, print, resourceIdOf, step, url } from './stage.ts'

// Plays the service's main flow on a running server like a new user's program: with the typed client, over HTTP. Stops at the
// first unexpected response. `npm run demo -- payday` plays a payday instead. `-- month` needs no running server and creates a
// workspace with a month of data.

const play = async () => {
  await expectReady()

  step('A new wallet signs in (Sign-In with Ethereum)')
  const wallet = privateKeyToAccount(generatePrivateKey())
  const { client: owner, outcome, account } = await signInWithWallet({ baseUrl: url }, wallet)
  expectSame('the outcome', outcome, 'account_created')
  print(`${wallet.address} is now ${account.id}`)

  step('It opens its notification stream')
  const stream = await followEvents(owner)
  print('GET /v1/notifications/stream is open')

  step('It creates an API key with limits for its agent')
  const spending_controls = { per_payment_limit_minor: '50000', daily_limit_minor: '80000' }
  const key = await owner.apiKeys.create({ name: 'Demo agent', spending_controls })
  const plaintext = expectThere('the key', key.key)
  if (!/^service_live_[0-9a-f]{64}$/.test(plaintext)) throw new Error('the key does not have the documented form')
  await stream.waitFor('api_key.created', key.id)
  const agent = new Payments({ baseUrl: url, apiKey: plaintext })
  print(`${plaintext.slice(0, 17)}… may pay ${money(50_000)} per payment and ${money(80_000)} per day; it is shown only once`)

  step('It tops up by M-PESA: a prompt on the phone')
  const topup = await owner.topups.initiate({ amount_minor: '100000', phone_number: '0712345678' })
  expectSame('the top-up’s status', topup.status, 'pending')
  print(`${topup.id} of ${money(100_000)} is pending`)
  await stream.waitFor('topup.succeeded', topup.id)
  const paidIn = await owner.topups.get(topup.id)
  expectSame('the top-up’s status', paidIn.status, 'succeeded')
  await expectBalance('100000', '0')
  print(`succeeded with receipt ${paidIn.provider_receipt}; available: ${money(100_000)}`)

  step('It adds a beneficiary')
  const payee = await owner.beneficiaries.create({
    type: 'person',
    display_name: 'Wanjiru Kamau',
    payment_rail: 'MPESA_B2C',
    destination: '0722000111',
  })
  expectSame('the mask', payee.destination_mask, '********0111')
  await stream.waitFor('beneficiary.created', payee.id)
  print(`Wanjiru Kamau at ${payee.destination_mask}: the number is encrypted and never shown again`)

  step('It sets a policy: payments of KES 200.00 or more need an approval')
  const rule = { name: 'Ask me first', approval_threshold_minor: '20000', required_approval_count: 1 }
  const policy = await owner.policies.create(rule)
  await stream.waitFor('policy.created', policy.id)
  print(`${policy.id} is ${policy.status}`)

  step('The agent pays KES 250.00 with its key')
  const order = { beneficiary_id: payee.id, amount_minor: '25000', narrative: 'Demo' }
  const payment = await agent.payments.create(order, { idempotencyKey: 'demo-payment' })
  expectSame('the payment’s status', payment.status, 'pending_approval')
  expectSame('the same request again', await agent.payments.create(order, { idempotencyKey: 'demo-payment' }), payment)
  const approval = expectThere('the approval', payment.approval_id)
  await stream.waitFor('approval.requested', approval)
  await expectBalance('75000', '25000')
  print(`${payment.id} waits for approval, with ${money(25_000)} held; sent twice, it is still one payment`)

  step('The wallet approves it by signing the message of the server: no session, no key')
  const decided = await decideByWallet({ baseUrl: url }, wallet, approval, { confirm: agreeTo(payment.id) })
  expectSame('the approval’s status', decided.status, 'approved')
  await stream.waitFor('approval.approved', approval)

  step('The payment is sent over M-PESA B2C')
  await stream.waitFor('payment.succeeded', payment.id)
  const paid = await agent.payments.waitFor(payment.id)
  expectSame('the payment’s status', paid.status, 'succeeded')
  print(`succeeded with receipt ${paid.provider_receipt}`)

  step('The stream reported every step, in order')
  const about = new Set<string | undefined>([payment.id, approval])
  const story = stream.received().filter((event) => about.has(resourceIdOf(event)))
  const typesOf = (events: readonly (typeof story)[number][]) => events.map(({ type }) => type)
  const expected = ['payment.created', 'approval.requested', 'approval.approved', 'payment.processing', 'payment.succeeded']
  expectSame('the events of the payment', typesOf(story), expected)
  print(typesOf(stream.received()).join(' → '))

  step('History and balance add up')
  await expectBalance('75000', '0')
  const history = await owner.account.history().toArray(100)
  for (const entry of history.toReversed())
    print(`${entry.type.padEnd(16)} ${money(entry.amount_minor).padStart(14)}   leaves ${money(entry.available_after_minor)}`)
  const sum = history.reduce((total, entry) => total + BigInt(entry.amount_minor), 0n)
  expectSame('the sum of the history', String(sum), '75000')
  await stream.close()

  async function expectBalance(available: string, held: string) {
    const { balance } = await owner.account.get()
    expectSame('the balance', balance, { currency: 'KES', available_minor: available, held_minor: held })
  }
}

const scenes: Readonly<Record<string, (folder?: string) => Promise<void>>> = {
  payment: play,
  payday: playPayday,
  month: playMonth,
}
const [name = 'payment', folder] = process.argv.slice(2)
const scene = scenes[name]
if (!scene) {
  console.error(`Unknown scene "${name}". Valid scenes: ${Object.keys(scenes).join(', ')}.`)
  process.exit(2)
}

scene(folder).then(
  () => {
    console.log('\nAll steps succeeded.')
    process.exit(0)
  },
  (error: unknown) => {
    console.error(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}.`)
    process.exit(1)
  },
)
