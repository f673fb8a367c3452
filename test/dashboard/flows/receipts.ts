import { expect, test } from 'vitest'
import { newBeneficiary } from '../../harness/money.ts'
import { newPayer, receiptOf } from '../../verifier/receipts.ts'
import { phone, visit } from '../visit.ts'
import type { World } from '../world.ts'

/** The page for checking a receipt as a stranger. */
export const receiptFlows = (world: World): void => {
  test('a stranger checks a receipt in the browser: the true one holds, a changed one does not, and it is sent nowhere', async () => {
    const { service } = world
    const person = await newPayer(service)
    const beneficiary_id = await newBeneficiary(person.api, { display_name: 'Wanjiru Kamau' })
    const { id } = (await person.api.post('/v1/payments', { beneficiary_id, amount_minor: '1000' })).body
    const receipt = await receiptOf(service, person, id)
    const { page, close } = await visit(world, { viewport: phone })
    try {
      const sent: string[] = []
      page.on('request', (request) =>
        sent.push(`${request.method()} ${new URL(request.url()).pathname} ${request.postData() ?? ''}`),
      )
      await page.goto(`${service.api.url}/verify`)
      const checkText = async (text: string) => {
        await page.getByLabel('or its text').fill(text)
        await page.getByRole('button', { name: 'Check' }).click()
      }
      await page.setInputFiles('#file', {
        name: 'receipt.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(receipt)),
      })
      await page.getByRole('heading', { name: 'The receipt is valid' }).waitFor()
      await expect.poll(() => page.textContent('#result')).toContain('Wanjiru Kamau')
      expect(await world.inspector.inBothThemes(page)).toEqual([])
      await checkText(JSON.stringify({ ...receipt, payment: { ...receipt.payment, amount_minor: '24000000' } }))
      await page.getByRole('heading', { name: 'The receipt is not valid' }).waitFor()
      await checkText('not JSON')
      await page.getByRole('heading', { name: 'Nothing was checked' }).waitFor()
      expect(sent.filter((line) => !line.startsWith('GET ') || line.includes(id))).toEqual([])
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    } finally {
      await close()
    }
  })
}
