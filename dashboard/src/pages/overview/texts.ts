import english from '../../../../texts/overview.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export const { t: tHome } = await readTexts(
  english,
  () => import('../../../../texts/overview.sw.json', { with: { type: 'json' } }),
)
