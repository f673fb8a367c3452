import type { Schemas } from '../../api/types.ts'
import { countWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { Facts, Notice } from '../../ui/layout.tsx'

const warningWords: Readonly<Record<string, string>> = {
  possible_duplicate: 'look like earlier payments',
  new_payee: 'go to payees that no person has confirmed',
  changed_payee: 'go to payees whose names were changed a short time ago',
}

/** What would be created, once every row can be paid. */
export const ListPreview = ({ preview }: { preview: Schemas['PaymentBatchPreview'] }) => {
  const counts = new Map<string, number>()
  for (const code of preview.items.flatMap(({ warnings }) => warnings)) counts.set(code, (counts.get(code) ?? 0) + 1)
  const renamed = preview.items.filter(({ payee }) => payee === 'known').length
  return (
    <Notice tone="good" title="Every row can be paid" live>
      <Facts
        facts={[
          ['Payments', countWords(preview.items_count, 'payment')],
          ['Total', moneyText(preview.total_minor, preview.currency)],
          ['New payees', preview.new_payees_count > 0 ? `${preview.new_payees_count} are created with the list` : null],
          ['Known payees', renamed > 0 ? `${countWords(renamed, 'payment')}, under the names that you already have` : null],
          [
            'Approval',
            preview.required_approvals > 0
              ? `${countWords(preview.required_approvals, 'approval')} for the whole list`
              : 'Not needed',
          ],
          ...[...counts].map(
            ([code, count]) => ['Look at', `${count} ${warningWords[code] ?? code.replaceAll('_', ' ')}`] as const,
          ),
        ]}
      />
    </Notice>
  )
}
