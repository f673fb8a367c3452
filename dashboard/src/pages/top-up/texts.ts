import english from '../../../../texts/topup.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export const { t: tTopUp } = await readTexts(english, () => import('../../../../texts/topup.sw.json', { with: { type: 'json' } }))
