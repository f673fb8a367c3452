import english from '../../../../texts/developers.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const { t: tDev, rich: richDev } = await createTranslator(
  english,
  () => import('../../../../texts/developers.sw.json', { with: { type: 'json' } }),
)
