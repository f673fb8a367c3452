import { expect, test } from 'vitest'
import { credit, newBeneficiary } from '../harness/money.ts'
import { createKey, signIn } from '../harness/people.ts'
import { pass } from '../rails-flows/scene.ts'
import { visitAs } from './visit.ts'
import { createWorld } from './world.ts'

const world = createWorld()

test('the limits of a new key are suggested from what other agents spend on a day, and never from a payroll', async () => {
  const person = await signIn(world.service.api)
  await credit(world.service, person.accountId, 10_000_000n)
  const beneficiary_id = await newBeneficiary(person.api, { destination: '254722000100' })
  expect((await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1234500' })).status).toBe(201)
  const agent = await createKey(person)
  expect((await agent.api.post('/v1/payments', { beneficiary_id, amount_minor: '312300' })).status).toBe(201)
  const { page, close } = await visitAs(world, person)
  await page.goto('/developers/keys/new')
  // Twice the day, rounded up to two digits; three times the usual payment would be more than the day.
  await expect.poll(() => page.getByLabel('Daily limit').inputValue()).toBe('6,300')
  await expect.poll(() => page.getByLabel('Per-payment limit').inputValue()).toBe('6,300')
  await close()
})

test('each kind of agent has one line to copy that leads to this service', async () => {
  const { page, close } = await visitAs(world, await signIn(world.service.api))
  await page.goto('/agents')
  const { url } = world.service.api
  const lines: readonly [kind: string, label: string, line: string][] = [
    ['Claude', 'Address for Claude', `${url}/mcp`],
    ['ChatGPT', 'Address for ChatGPT', `${url}/mcp`],
    ['Cursor', 'Settings for Cursor', JSON.stringify({ mcpServers: { payments: { url: `${url}/mcp` } } })],
    ['CLI', 'Command for a terminal', `npx --package=${url}/client.tgz payments login --url ${url}`],
    ['Code', 'First request from code', `curl ${url}/v1/credentials/current -H "Authorization: Bearer $PAYMENTS_API_KEY"`],
  ]
  for (const [kind, label, line] of lines) {
    await page.getByRole('button', { name: kind, exact: true }).click()
    await expect.poll(() => page.getByLabel(label).textContent()).toBe(line)
  }
  await close()
})

test('an approval that waits since another day shows what is used now', async () => {
  const { service } = world
  const person = await signIn(service.api)
  await credit(service, person.accountId, 10_000_000n)
  await person.api.post('/v1/spending-policies', {
    name: 'Office',
    daily_limit_minor: '100000',
    approval_threshold_minor: '50000',
    separation_of_duties: false,
  })
  const pay = async (destination: string, amount_minor: string) => {
    const beneficiary_id = await newBeneficiary(person.api, { destination })
    const paid = await person.api.post('/v1/payments', { beneficiary_id, amount_minor })
    expect(paid.status).toBe(201)
    return paid.body
  }
  await pay('254722000101', '40000')
  const waiting = await pay('254722000102', '60000')
  expect(waiting.status).toBe('pending_approval')
  await service.settle()

  const { page, complaints, close } = await visitAs(world, person)
  const checks = page.getByLabel('Policy checks')
  await page.goto(`/approvals/${waiting.approval_id}`)
  await checks.getByText('KES\u00a0400.00 of KES\u00a01,000.00 used today').waitFor()
  await pass(service, 2 * 86_400)
  const later = await signIn(service.api, person.wallet)
  await close()

  const visit = await visitAs(world, later)
  await visit.page.goto(`/approvals/${waiting.approval_id}`)
  await visit.page.getByLabel('Policy checks').getByText('KES\u00a00.00 of KES\u00a01,000.00 used today').waitFor()
  expect([...complaints, ...visit.complaints]).toEqual([])
  await visit.close()
})
