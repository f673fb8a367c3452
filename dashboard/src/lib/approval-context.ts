import type { Schemas } from '../api/types.ts'

export type ApprovalContext = {
  payee: { payments_count: number; last_paid_at: string | null; typical_amount_minor: string | null }
  available_after_minor: string | null
  eligible_approvers: string[]
}

export type Warning = { payment_id: string; created_at: string }

/** Fields that only a single approval has, not one in a list. */
export const contextOf = (approval: Schemas['Approval']): ApprovalContext | null =>
  'context' in approval ? (approval.context as ApprovalContext) : null

export const warningsOf = (decision: object): Warning[] =>
  'warnings' in decision && Array.isArray(decision.warnings) ? (decision.warnings as Warning[]) : []
