import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Payments } from '#client'
import { startPayments } from '#client/testing'
import { createMovableClock, dateAfter } from '../../lib/clock.ts'
import { createSandboxTime } from '../sandbox/scheduler.ts'
import { businesses, farmers, type Payee, workers } from './kilimo-fresh.ts'
import { expectSame, expectThere, money, print, step } from './stage.ts'

// Plays a month of a team on a separate service, whose clock starts 28 days ago and ends now. The data folder must be new: with
// existing records the clock could not go back, because events, seals and daily totals are ordered by time.

const daysAgo = 28
const daySeconds = 86_400
const workspaceName = 'Demo · Kilimo Fresh'

const cookieIn = (answer: Response, name: string): string => {
  const line = answer.headers.getSetCookie().find((each) => each.startsWith(`${name}=`))
  return expectThere(`the cookie ${name}`, line?.split(';')[0])
}

/** Signs in as a browser would, at the simulated Google, which lets visitors choose their identity. */
const signInWithGoogle = async (baseUrl: string, name: string, email: string): Promise<Payments> => {
  const visit = (address: string | null, headers: Record<string, string> = {}) =>
    fetch(new URL(expectThere('the next address', address), baseUrl), { redirect: 'manual', headers })
  const begun = await visit('/v1/auth/google/start?return_to=/')
  const page = new URL(expectThere('the page of Google', begun.headers.get('location')))
  const choice = new URLSearchParams([...page.searchParams, ['name', name], ['email', email]])
  const chosen = await visit(`${page.pathname}/choose?${choice}`)
  const back = await visit(chosen.headers.get('location'), { cookie: cookieIn(begun, 'service_flow') })
  return new Payments({ baseUrl, headers: { cookie: cookieIn(back, 'service_session') } })
}

type Service = Awaited<ReturnType<typeof startPayments>>
type Fields = Omit<Parameters<Payments['payments']['create']>[0], 'beneficiary_id' | 'amount_minor'>

/** Creates the workspace with its owner, approver and agent, each with a client of their own. */
const openWorkspace = async (service: Service) => {
  step('Amina creates a workspace, and Brian joins it as an approver')
  const owner = await signInWithGoogle(service.url, 'Amina Otieno', 'amina@example.com')
  const approver = await signInWithGoogle(service.url, 'Brian Kamau', 'brian@example.com')
  const { workspace } = await owner.call('post', '/v1/workspaces', { body: { name: workspaceName } })
  const body = { workspace_id: workspace.id }
  await owner.call('put', '/v1/workspaces/current', { body })
  const { token } = await owner.call('post', '/v1/workspaces/current/invitations', { body: { role: 'approver' } })
  await approver.call('post', '/v1/workspaces/invitations/accept', { body: { token: expectThere('the invitation', token) } })
  await approver.call('put', '/v1/workspaces/current', { body })
  const { key } = await owner.apiKeys.create({
    name: 'Procurement agent',
    spending_controls: {
      per_payment_limit_minor: '4000000',
      daily_limit_minor: '8000000',
      monthly_limit_minor: '60000000',
      approval_threshold_minor: '1500000',
    },
  })
  const agent = new Payments({ baseUrl: service.url, apiKey: expectThere('the key', key) })
  await owner.policies.create({
    name: 'Payments from KES 50,000',
    approval_threshold_minor: '5000000',
    required_approval_count: 1,
  })
  print(`${workspaceName}: an agent with a key, and a policy that requires approval at or above ${money('5000000')}`)
  return { owner, approver, agent }
}

type Team = Awaited<ReturnType<typeof openWorkspace>>

const addPeople = async ({ setName }: Service, { owner }: Team, type: string, people: readonly Payee[]): Promise<string[]> => {
  const ids: string[] = []
  for (const { name, to, holder } of people) {
    await setName(to, holder)
    const fields = { type, display_name: name, payment_rail: 'MPESA_B2C', destination: to } as const
    ids.push((await owner.beneficiaries.create(fields)).id)
  }
  return ids
}

const addBusinesses = async ({ setName }: Service, { owner }: Team) => {
  const add = async (fields: (typeof businesses)[keyof typeof businesses]): Promise<string> => {
    await setName(fields.destination, fields.display_name.toUpperCase())
    return (await owner.beneficiaries.create(fields)).id
  }
  const { landlord, boxes, cold, power, freight } = businesses
  const ids = {
    landlord: await add(landlord),
    boxes: await add(boxes),
    cold: await add(cold),
    power: await add(power),
    freight: await add(freight),
  }
  await owner.policies.create({ name: 'Electricity', beneficiary_ids: [ids.power], monthly_limit_minor: '6000000' })
  return ids
}

const deposit = async ({ payIn }: Service, { owner }: Team, amountMinor: string): Promise<void> => {
  const { id, instructions } = await owner.topups.initiate({ method: 'MPESA_PAYBILL' })
  if (!instructions || !('paybill' in instructions)) throw new Error('the instructions should name a paybill')
  await payIn(instructions.account_number, amountMinor)
  expectSame('the deposit', (await owner.topups.waitFor(id)).status, 'succeeded')
}

/** Pays and waits for the final status. `approver`, if given, approves the payment when it needs an approval. */
const pay = async (by: Payments, beneficiary_id: string, amount: number, fields: Fields, approver?: Payments) => {
  const made = await by.payments.create({ beneficiary_id, amount_minor: String(amount * 100), ...fields })
  if (made.status === 'pending_approval' && approver)
    await approver.approvals.decide(expectThere('the approval', made.approval_id), { decision: 'approve' })
  return made.status === 'processing' || approver ? by.payments.waitFor(made.id) : made
}

const payWages = async ({ owner, approver }: Team, people: readonly string[], week: number): Promise<void> => {
  const items = people.map((beneficiary_id, index) => ({
    beneficiary_id,
    amount_minor: String((7_800 + index * 350 + week * 120) * 100),
    narrative: `Wages, week ${week + 1}`,
  }))
  const batch = await owner.batches.create({ name: `Wages, week ${week + 1}`, items })
  await approver.approvals.decide(expectThere('the approval of the batch', batch.approval_id), { decision: 'approve' })
  const { status, counts } = await owner.batches.waitFor(batch.id)
  expectSame('the batch', status, 'completed')
  print(`Wages, week ${week + 1}: ${counts.succeeded} of ${items.length} payments succeeded`)
}

/** The bank returns a payment, as the provider's daily statement shows. The operator's `reconcile` command books the return. */
const simulateBankReturn = async (service: Service, folder: string, { owner }: Team, paymentId: string): Promise<void> => {
  const { provider_receipt } = await owner.payments.get(paymentId)
  const answer = await fetch(`${service.controlUrl}/control/statement.csv?provider=PESALINK`)
  const lines = (await answer.text()).trimEnd().split('\n')
  const cells = expectThere(
    'the line of the payment',
    lines.find((line) => line.includes(String(provider_receipt))),
  ).split(',')
  const [reference, date, , status, , debit, transaction] = cells
  const file = join(folder, 'pesalink-statement.csv')
  await writeFile(file, [...lines, [reference, date, 'Reversal', status, debit, '', transaction].join(','), ''].join('\n'))
  // The command exits with 1, because it found a difference.
  await promisify(execFile)('npm', ['run', '--silent', 'admin', '--', 'reconcile', file], {
    env: { ...process.env, DATABASE_URL: '', DATA_DIR: folder },
  }).catch(() => undefined)
  expectSame('the payment that came back', (await owner.payments.get(paymentId)).status, 'returned')
}

const playMonthOn = async (service: Service, folder: string, today: string): Promise<void> => {
  /** Kenya has no daylight saving time. */
  const at = (day: number, time: string) => service.setTime(new Date(`${dateAfter(today, day - daysAgo)}T${time}:00+03:00`))
  const team = await openWorkspace(service)
  const { owner, approver, agent } = team

  step('It receives money, and adds its beneficiaries')
  await deposit(service, team, '90000000')
  const payees = await addBusinesses(service, team)
  const farms = await addPeople(service, team, 'supplier', farmers)
  await at(1, '08:20')
  const staff = await addPeople(service, team, 'employee', workers)
  const farmer = (index: number) => expectThere('a farmer', farms[index % farms.length])

  step('Four weeks pass: purchases, wages, rent, electricity, freight')
  for (let day = 1; day < daysAgo; day += 1) {
    const week = Math.floor(day / 7)
    const weekday = new Date(dateAfter(today, day - daysAgo)).getUTCDay()
    await at(day, `09:${15 + ((day * 7) % 40)}`)
    if (weekday === 1 && day > 3) await deposit(service, team, '40000000')
    // The agent buys the farmers' produce every day except Sunday.
    await Promise.all([
      weekday !== 0 && pay(agent, farmer(day), 4_300 + ((day * 1_870) % 7_100), { narrative: 'Beans and peas' }),
      weekday === 1 && pay(agent, farmer(day + 2), 15_900 + week * 820, { narrative: 'Avocados' }, owner),
      weekday === 3 && pay(owner, payees.freight, 14_200 + week * 650, { narrative: 'Freight to Mombasa' }),
      day === 2 && pay(owner, payees.landlord, 85_000, { narrative: 'Warehouse rent' }, approver),
      (day === 5 || day === 19) && pay(owner, payees.power, 18_460 + day * 31, { narrative: 'Cold room' }),
      day === 10 && pay(owner, payees.boxes, 62_400, { narrative: 'Export boxes', account_reference: 'LP-7719' }, approver),
    ])
    if (weekday !== 5) continue
    await at(day, '16:05')
    await payWages(team, staff, week)
  }

  step('Some payments fail')
  const refused = await agent.payments
    .create({ beneficiary_id: farmer(0), amount_minor: '4500000', narrative: 'Onions, a whole truck' })
    .then(
      () => 'paid',
      ({ code }: { code: string }) => code,
    )
  expectSame('a payment above the limit of the agent', refused, 'policy_denied')
  const held = await pay(owner, payees.boxes, 148_000, { narrative: 'Boxes for the season' })
  await approver.approvals.decide(expectThere('the approval', held.approval_id), {
    decision: 'reject',
    reason: 'The quote is from last year: ask for a new one.',
  })
  const unanswered = await owner.topups.initiate({ amount_minor: '5000000', phone_number: '254700001037' })
  expectSame('the unanswered prompt', (await owner.topups.waitFor(unanswered.id)).status, 'failed')
  const storage = await pay(owner, payees.cold, 31_500, { narrative: 'Cold storage' }, approver)
  await simulateBankReturn(service, folder, team, storage.id)
  print('One payment was refused, one rejected, one returned by the bank; wages to one phone failed every week')

  step('Today a payment by the agent waits for approval')
  await service.setTime(new Date())
  const seller = { to: '254722330001', holder: 'PETER NJOROGE KARIUKI' }
  await service.setName(seller.to, seller.holder)
  const { id } = await agent.beneficiaries.create({
    type: 'supplier',
    display_name: 'Mwea Irrigation Supplies',
    payment_rail: 'MPESA_B2C',
    destination: seller.to,
  })
  const waiting = await pay(agent, id, 23_750, { narrative: 'Drip lines, 400 m' })
  expectSame('the payment', waiting.status, 'pending_approval')
  const execute_at = new Date(Date.now() + 5 * daySeconds * 1000).toISOString()
  await pay(owner, payees.freight, 15_300, { narrative: 'Freight to Mombasa', execute_at })
  const { balance } = (await owner.workspaces.current()).workspace
  print(`${money(expectThere('the balance', balance).available_minor)} remain`)
}

/** `folder`: data folder of the separate service. It must not exist. */
export const playMonth = async (folder = '.data-demo'): Promise<void> => {
  const path = resolve(folder)
  const named = relative(process.cwd(), path) || path
  if (existsSync(path)) throw new Error(`${named} already exists: open it with DATA_DIR=${named} npm start, or delete it first`)
  const today = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10)
  const begin = Date.parse(`${dateAfter(today, -daysAgo)}T08:00:00+03:00`)
  const clock = createMovableClock()
  createSandboxTime(clock, { advance: () => undefined }, join(path, 'sandbox')).advance(Math.floor((begin - Date.now()) / 1000))
  console.log(
    `Starting a service with its data in ${named}, at 08:00 on ${dateAfter(today, -daysAgo)}. This takes a few minutes.`,
  )
  const service = await startPayments({ directory: process.cwd(), env: { DATA_DIR: path, SESSION_IDLE_DAYS: '30' } })
  try {
    await playMonthOn(service, path, today)
  } finally {
    await service.stop()
  }
  console.log(`
Open it: stop the running service, start this one with
  DATA_DIR=${named} npm start
and sign in with the simulated Google: Amina Otieno owns the workspace, Brian Kamau approves.
Remove it: stop the service and delete the folder ${named}. Your other data was not touched.`)
}
