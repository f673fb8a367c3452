import { expect, test } from 'vitest'
import { parseId } from '../../../src/lib/ids.ts'
import { fund, newBeneficiary, unguarded } from '../../harness/money.ts'
import { signIn } from '../../harness/people.ts'
import { shareVisit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

export const topUpFlows = (world: World): void => {
  const shared = shareVisit(world)
  const begin = async (phoneNumber: string) => {
    // The page counts down from the service's start.
    world.service.clock.set(new Date())
    const visited = await shared.at('/top-up')
    const { page } = visited
    await page.getByLabel('Amount').fill('1000')
    await page.getByLabel('M-PESA phone number').fill(phoneNumber)
    await page.getByRole('button', { name: /Send M-PESA prompt for KES/ }).click()
    await page.getByRole('heading', { name: 'Check your phone' }).waitFor()
    return visited
  }

  test('sends the prompt, counts down, and shows the success as soon as the money has arrived', async () => {
    const { page, complaints } = await begin('0722 000 001')
    await page
      .getByRole('timer')
      .getByText(/^\d+ s$/)
      .waitFor()
    await world.service.settle()
    await page.getByRole('heading', { name: /KES\s1,000.00 arrived/ }).waitFor()
    expect(complaints).toEqual([])
  })

  test('shows that the payer declined the prompt', async () => {
    const { page } = await begin('254700001032')
    await world.service.settle()
    await page.getByRole('heading', { name: 'Top-up failed' }).waitFor()
  })

  test('after a time-out shows that the payment is being checked; a late proof shows the success', async () => {
    const { page, person } = await begin('254711000003')
    const id = new URL(page.url()).pathname.split('/').at(-1)
    const { deps, scheduler, sandbox, clock } = world.service
    await deps.jobs.drain()
    await scheduler.runDue()
    sandbox.failNext({ kind: 'reset', takesEffect: false })
    clock.advance(deps.config.TOPUP_TTL_SECONDS)
    await deps.jobs.sweep()
    await expect.poll(async () => (await person.api.get(`/v1/topups/${id}`)).body.status).toBe('expired')
    await page.getByText('The money may have moved. We’re checking').waitFor()
    await world.service.settle()
    await page.getByRole('heading', { name: /KES\s1,000.00 arrived/ }).waitFor()
  })

  test('a deposit shows when it expires, and keeps its instructions after that, because later money is still credited', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    const { body } = await person.api.post('/v1/topups/initiate', { method: 'MPESA_PAYBILL' })
    const { page, complaints, close } = await visitAs(world, person)
    await page.goto(`/top-up/${body.id}`)
    const account = page.getByRole('button', { name: new RegExp(body.instructions.account_number) })
    await account.waitFor()
    await page.getByText('Expires', { exact: true }).waitFor()
    await unguarded(world.service, 'update topups set expires_at = created_at where id = $1', [parseId('topup', body.id)])
    await world.service.deps.jobs.sweep()
    await page.getByText('No deposit arrived in time').waitFor()
    await account.waitFor()
    expect(await page.getByText('M-PESA didn’t answer in time').count()).toBe(0)
    expect(complaints).toEqual([])
    await close()
  })

  test('recent top-ups are listed however many other entries are newer', async () => {
    world.service.clock.set(new Date())
    const person = await signIn(world.service.api)
    await fund(world.service, person, 500_000n)
    const beneficiary = await newBeneficiary(person.api)
    for (let count = 0; count < 13; count += 1)
      await person.api.post('/v1/payments', { beneficiary_id: beneficiary, amount_minor: '1000' })
    await world.service.settle()
    const { page, close } = await visitAs(world, person)
    await page.goto('/top-up')
    await page.getByText('+5,000.00').waitFor()
    await close()
  })
}
