import { expect, test } from 'vitest'
import { formatId, newId } from '../../../src/lib/ids.ts'
import advice from '../../../texts/advice.sw.json' with { type: 'json' }
import errors from '../../../texts/errors.sw.json' with { type: 'json' }
import failures from '../../../texts/failures.sw.json' with { type: 'json' }
import { newBeneficiary } from '../../harness/money.ts'
import { takeScreenshots } from '../screenshots.ts'
import { createTeam } from '../team.ts'
import { visit } from '../visit.ts'
import type { World } from '../world.ts'

const plain = (text: string | null): string => (text ?? '').replace(/[\u00a0\u2066-\u2069]/g, ' ').replace(/ +/g, ' ')

export const languageFlows = (world: World): void => {
  test('a person who chose Swahili gets the mail, the warnings, the amount and the dates in it; what they sign is the English text', async () => {
    const { service } = world
    const team = await createTeam(service)
    const { page, complaints, close } = await visit(world, { wallets: [] })
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Kiswahili' }).click()
    await page.getByRole('heading', { name: 'Ingia' }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('sw')
    await takeScreenshots(page, 'sw-sign-in')
    await page.getByRole('button', { name: 'Endelea kwa Google ya majaribio' }).click()
    // The provider's own page.
    await page.getByRole('link', { name: /Brian/ }).click()
    await page.getByRole('heading', { name: 'Mwanzo' }).waitFor()
    const settings = `fetch('/v1/accounts/me/notification-settings').then((answer) => answer.json())`
    await expect.poll(() => page.evaluate(settings)).toMatchObject({ language: 'sw' })
    const api = team.within(team.owner)
    const { token } = (await api.post('/v1/workspaces/current/invitations', { role: 'approver' })).body
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token }) }
    await page.evaluate(`fetch('/v1/workspaces/invitations/accept', ${JSON.stringify(json)})`)
    const beneficiary_id = await newBeneficiary(api, { display_name: 'Landlord', destination: '254722100014' })
    await service.settle()
    const { approval_id: id } = (await api.post('/v1/payments', { beneficiary_id, amount_minor: '980000' })).body
    const { signing, expires_at } = (await api.get(`/v1/approvals/${id}`)).body
    await service.settle()

    await page.goto('/sandbox/mail')
    await expect
      .poll(async () => plain(await page.locator('main').textContent()))
      .toContain('KES 9,800.00 kwa "Landlord" inasubiri uamuzi wako')

    await page.goto(`/approve/${id}`)
    await page.getByRole('heading', { name: /^KES\s9,800 kwa Landlord$/ }).waitFor()
    await page.getByRole('button', { name: /^Idhinisha( a)?$/ }).waitFor()
    const warning = 'Mtandao wa malipo unaonyesha jina jingine la nambari hii'
    const link = plain(await page.locator('main').textContent())
    for (const text of [warning, 'Muda uliobaki: siku', 'Hayo pekee ndiyo yanayofunga kisheria.']) expect(link).toContain(text)
    for (const line of signing.approve.split('\n')) expect(link).toContain(plain(line))
    await takeScreenshots(page, 'sw-link')

    await page.goto('/approvals')
    await page.getByText('Jina jingine').first().waitFor()
    await takeScreenshots(page, 'sw-inbox')
    await page.goto(`/approvals/${id}`)
    const card = page.getByLabel('Kinachoamuliwa')
    await card.waitFor()
    expect(plain(await card.textContent())).toContain(warning)
    const expires = new Intl.DateTimeFormat('sw-KE', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Africa/Nairobi' })
    expect(plain(await page.locator('main').textContent())).toContain(`Muda unaisha ${expires.format(new Date(expires_at))}`)
    await takeScreenshots(page, 'sw-approval')
    await page.getByRole('button', { name: /^Idhinisha( a)?$/ }).click()
    expect(plain(await page.getByRole('dialog').textContent())).toContain(warning)
    await takeScreenshots(page, 'sw-dialog')
    await page.getByRole('button', { name: /^Idhinisha KES\s9,800$/ }).click()
    await page.getByText(/^Yameidhinishwa: KES\s9,800 kwa Landlord yanatumwa$/).waitFor()
    expect((await api.get(`/v1/approvals/${id}`)).body).toMatchObject({
      status: 'approved',
      signing: { approve: signing.approve },
    })
    // The API's English sentence is shown by its code.
    const unregistered = await newBeneficiary(api, { destination: '254700002001' })
    const { id: failed } = (await api.post('/v1/payments', { beneficiary_id: unregistered, amount_minor: '10000' })).body
    await service.settle()
    const { failure_code: code } = (await api.get(`/v1/payments/${failed}`)).body
    await page.goto(`/payments/${failed}`)
    const { sentence } = failures[code as keyof typeof failures]
    await page.getByText(sentence).first().waitFor()
    await page.getByText('M-PESA kwa simu').waitFor()
    await takeScreenshots(page, 'sw-failed')
    await page.goto(`/payments/${formatId('payment', newId())}`)
    const refusal = page.locator('.notice', { hasText: errors.not_found.sentence })
    await refusal.getByText(advice.not_found.person).waitFor()
    expect(await refusal.locator('[lang=en]').textContent()).toContain('There is no such resource')
    // Search offers pages before a word is typed, in this language too.
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Mwanzo' }).waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Akaunti Brian Kamau' }).first().click()
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('link', { name: 'Overview' }).first().waitFor()
    await expect.poll(() => page.evaluate(settings)).toMatchObject({ language: 'en' })
    expect(complaints).toEqual([])
    await close()
  })
}
