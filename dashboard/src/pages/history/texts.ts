import english from '../../../../texts/books.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export const { t: tBooks, rich: richBooks } = await readTexts(
  english,
  () => import('../../../../texts/books.sw.json', { with: { type: 'json' } }),
)
