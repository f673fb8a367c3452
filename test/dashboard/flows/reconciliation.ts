import { expect, test } from 'vitest'
import { subjects } from '../../../src/modules/jobs.ts'
import { shellOperator } from '../../../src/modules/operators.ts'
import { reconcileStatement } from '../../../src/modules/reconciliation/service.ts'
import { signIn } from '../../harness/people.ts'
import { visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const statement = `Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,A/C No.
QXX0000001,2026-01-05 10:00:00,Business Payment,Completed,,-250.00,
`

export const reconciliationFlows = (world: World): void => {
  test('only an administrator sees what a statement lists and the books do not, and resolves it', async () => {
    const { deps } = world.service
    await reconcileStatement(deps, subjects, shellOperator('a test'), { source: 'a test', text: statement })
    const admin = await visitAs(world, await signIn(world.service.api, world.administrator))
    const { page } = admin
    await page.goto('/reconciliation')
    const suspense = page.getByRole('button', { name: /^Resolve: The statement lists it, and the books do not/ })
    await suspense.click()
    await page.getByRole('dialog').getByLabel('What was found').fill('a payment made in the portal')
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('Nothing is in suspense').waitFor()
    await page.getByRole('button', { name: /^Resolve: The statement lists it, and nothing here/ }).click()
    await page.getByRole('dialog').getByLabel('What was found').fill('a payment made in the portal')
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('No statement differs from the books').waitFor()
    await page.getByText('M-PESA, a test').waitFor()
    await page.getByText('0 of 1 matched, 1 difference; books KES\u00a00.00, provider KES\u00a0\u2212250.00').waitFor()
    await page.getByText('Left at the providers').waitFor()
    const resolved = await deps.db.query('select note from suspense_items where resolved_at is not null')
    expect(resolved).toEqual([{ note: 'a payment made in the portal' }])
    expect(admin.complaints).toEqual([])
    await admin.close()

    const other = await visitAs(world, await signIn(world.service.api))
    await other.page.goto('/reconciliation')
    await other.page.getByText('Only administrators can see this').waitFor()
    expect(await other.page.getByRole('button', { name: /^Resolve/ }).count()).toBe(0)
    await other.close()
  })
}
