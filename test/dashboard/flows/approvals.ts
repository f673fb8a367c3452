import { expect, test } from 'vitest'
import { newWallet } from '../../harness/people.ts'
import { createHousehold, type Household } from '../household.ts'
import { phone, visit, visitAs } from '../visit.ts'
import type { World } from '../world.ts'

const statusOf = async (home: Household): Promise<string> =>
  (await home.person.api.get(`/v1/approvals/${home.approvalId}`)).body.status

export const approvalFlows = (world: World): void => {
  test('tells who asks, for what, why and until when, and approves by session', async () => {
    const home = await createHousehold(world.service)
    const { page, complaints, close } = await visitAs(world, home.person)
    await page.goto(`/approvals/${home.approvalId}`)
    for (const text of ['Procurement agent', 'First payment to this destination', '*********6523', 'PO-2291'])
      await page.getByText(text).first().waitFor()
    await page
      .getByText(/KES\s23,499.00 is KES\s10,000.00 or more: 1 approval needed/)
      .first()
      .waitFor()
    await page.getByLabel('Rules that were looked at').getByText('Limits of “Procurement agent”').waitFor()
    await page.getByRole('button', { name: 'Approve' }).first().click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve KES/ })
      .click()
    await page.getByText('Approved: the payment is on its way').waitFor()
    expect(await statusOf(home)).toBe('approved')
    expect(complaints).toEqual([])
    await close()
  })

  test('is decided by keyboard alone: choose, reject, say why', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visitAs(world, home.person)
    await page.goto('/approvals')
    await page.getByText('Savannah Supplies Ltd').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await page.getByRole('dialog').getByLabel('Reason').fill('We have enough chairs')
    await page.keyboard.press('Enter')
    await page.getByText('Rejected: nothing is sent').waitFor()
    await page.getByText('Nothing waits for a decision').waitFor()
    expect(await statusOf(home)).toBe('rejected')
    await close()
  })

  test('is signed with the wallet by somebody who is signed in', async () => {
    const home = await createHousehold(world.service)
    const { page, wallet, close } = await visitAs(world, home.person)
    await page.goto(`/approvals/${home.approvalId}`)
    await page.getByRole('button', { name: 'Sign approval' }).click()
    await page.getByRole('button', { name: 'Approve with Test Wallet' }).click()
    await page.getByText('Approved: the payment is on its way').waitFor()
    expect(wallet.signed.at(-1)).toContain('asks you to APPROVE a payment')
    await page.getByText(/signed by 0x/).waitFor()
    await close()
  })

  test('is decided on a phone by a wallet holder who is not signed in; another wallet is refused', async () => {
    const home = await createHousehold(world.service)
    const { page, wallet, complaints, close } = await visit(world, {
      wallets: [newWallet(), home.person.wallet],
      viewport: phone,
    })
    await page.goto(`/approve/${home.approvalId}`)
    await page.getByText('23,499.00 KES').first().waitFor()
    await page.getByText('Savannah Supplies Ltd').first().waitFor()
    await page.getByRole('button', { name: 'Approve with Test Wallet' }).click()
    await page.getByText('Sign again with the wallet that is linked to the account.').waitFor()
    expect(await statusOf(home)).toBe('pending')
    await page.getByRole('button', { name: 'Choose another account in Test Wallet' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(wallet.signed).toHaveLength(2)
    expect(await statusOf(home)).toBe('approved')
    expect(complaints).toEqual([])
    await close()
  })

  test('is rejected by a signature that was made somewhere else and pasted', async () => {
    const home = await createHousehold(world.service)
    const { page, close } = await visit(world)
    await page.goto(`/approve/${home.approvalId}`)
    await page.getByRole('button', { name: 'Reject', exact: true }).click()
    await page.getByText('The message that is signed').click()
    const message = (await page.getByLabel('The message that is signed').textContent()) ?? ''
    expect(message).toContain('REJECT')
    await page.getByText('Sign it somewhere else').click()
    await page.getByLabel('Signature').fill(await home.person.wallet.signMessage({ message }))
    await page.getByRole('button', { name: 'Send the signature' }).click()
    await page.getByRole('heading', { name: 'Rejected' }).waitFor()
    expect(await statusOf(home)).toBe('rejected')
    await close()
  })
}
