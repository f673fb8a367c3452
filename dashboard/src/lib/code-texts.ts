import type { ErrorCode } from '../../../src/errors/catalogue.ts'
import type { FailureCode } from '../../../src/errors/failures.ts'
import type { RailName } from '../../../src/lib/rail-names.ts'
import { swahili } from '../../../src/rails/all/swahili.ts'
import type { PayoutSwahili } from '../../../src/rails/definition.ts'
import type { depositActions } from '../../../src/rails/texts.ts'
import advice from '../../../texts/advice.sw.json' with { type: 'json' }
import errors from '../../../texts/errors.sw.json' with { type: 'json' }
import failures from '../../../texts/failures.sw.json' with { type: 'json' }

/** Swahili texts for the codes of the API and the rails, in one file that takes one request. */
export type CodeTexts = {
  errors: Readonly<Record<ErrorCode, { sentence: string }>>
  advice: Readonly<Record<ErrorCode, { person: string; page?: string }>>
  failures: Readonly<Record<FailureCode, { sentence: string; fix: string }>>
  rails: Readonly<Record<RailName, PayoutSwahili>>
  deposits: Readonly<Record<keyof typeof depositActions, string>>
}

// Must not import modules that pages share, because those modules await this file.
export const swahiliCodes: CodeTexts = {
  ...{ errors, advice, failures },
  rails: Object.assign({}, ...Object.values(swahili).map(({ payouts }) => payouts)),
  deposits: Object.assign({}, ...Object.values(swahili).map(({ depositActions }) => depositActions)),
}
