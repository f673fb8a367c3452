import { presenter } from '../../http/presenter.ts'
import { type MandateRecord, mandateStatus } from './queries.ts'
import { Mandate } from './schema.ts'

const shown = presenter(Mandate)

export const presentMandate = (mandate: MandateRecord, at: Date): Mandate =>
  shown(mandate, { status: mandateStatus(mandate, at) })
