import english from '../../../texts/files.en.json' with { type: 'json' }
import { createTranslator } from './language.ts'

export const { t: tFile } = await createTranslator(
  english,
  () => import('../../../texts/files.sw.json', { with: { type: 'json' } }),
)
