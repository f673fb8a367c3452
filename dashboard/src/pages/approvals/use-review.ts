import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../api/types.ts'
import { fitsBulk } from '../../lib/approval-cautions.ts'
import type { Choice } from '../../lib/approval-subject.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { useSelection } from '../../ui/selection.tsx'

type Approval = Schemas['Approval']

export const rowId = ({ id }: Pick<Approval, 'id'>): string => `row-${id}`

type Deciding = { approvals: readonly Approval[]; choice: Choice; next: string | undefined }

/**
 * Through the inbox by keyboard: j and k move the focus itself, so that Enter opens and a screen reader follows; x selects; a and r decide
 * what is selected, or else the row that has the focus. Afterwards the focus is on the next one.
 */
export const useReview = (approvals: readonly Approval[], open: (approval: Approval) => void) => {
  const [deciding, setDeciding] = useState<Deciding | null>(null)
  /** Those that can be decided together. */
  const ticked = approvals.filter(fitsBulk)
  const selection = useSelection(ticked.map(({ id }) => id))
  const chosen = ticked.filter(({ id }) => selection.chosen.includes(id))
  const at = () => approvals.findIndex((approval) => document.activeElement?.closest('[data-row]')?.id === rowId(approval))
  const focusOn = (id: string | undefined) =>
    document.querySelector<HTMLElement>(`#${id === undefined ? 'none' : rowId({ id })} a`)?.focus()

  // Moves the focus after a decision: when the dialog has closed, and again when the decided rows are gone.
  const landing = useRef<{ on: string; decided: readonly string[] } | null>(null)
  const ids = approvals.map(({ id }) => id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the dialog closes, and when other rows are there
  useEffect(() => {
    if (!landing.current || deciding) return
    const { on, decided } = landing.current
    focusOn(on)
    if (!approvals.some(({ id }) => decided.includes(id))) landing.current = null
  }, [deciding, ids])

  const decide = (choice: Choice) => {
    const focused = approvals[at()]
    const about = chosen.length > 0 ? chosen : focused ? [focused] : []
    if (about.length === 0) return
    // What has a caution, or must be signed, is looked at by itself.
    const [only] = about
    if (choice === 'approve' && only && about.length === 1 && !fitsBulk(only)) return open(only)
    const left = approvals.filter((approval) => !about.includes(approval))
    const next = left.find((approval) => approvals.indexOf(approval) > at()) ?? left.at(-1)
    setDeciding({ approvals: about, choice, next: next?.id })
  }
  useShortcuts({
    j: () => focusOn(approvals[Math.min(at() + 1, approvals.length - 1)]?.id),
    k: () => focusOn(approvals[Math.max(at() - 1, 0)]?.id),
    x: () => {
      const focused = approvals[at()]
      if (focused && fitsBulk(focused)) selection.toggle(focused.id)
    },
    a: () => decide('approve'),
    r: () => decide('reject'),
  })
  return {
    selection,
    chosen,
    ticked,
    decide,
    deciding,
    close: () => setDeciding(null),
    decided: () => {
      if (deciding?.next) landing.current = { on: deciding.next, decided: deciding.approvals.map(({ id }) => id) }
      selection.clear()
      setDeciding(null)
    },
  }
}
