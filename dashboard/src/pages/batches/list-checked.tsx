import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { groupFaults, type RowFault, rowsText } from '../../../../client/src/list-faults.ts'
import { ApiError } from '../../api/error.ts'
import type { Schemas } from '../../api/queries.ts'
import { warningsOfList } from '../../lib/list-warnings.ts'
import { correctedFiles, fieldName, type PaymentList } from '../../lib/payment-list.ts'
import { saveFile } from '../../lib/text-file.ts'
import { capitalized, countWords, feeWords, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Facts, Failure, Notice, Time } from '../../ui/page.tsx'

type Props = { list: PaymentList; error: unknown; faults: readonly RowFault[]; meant: boolean; onMeant: () => void }

/** What has to be corrected, each kind once with its rows; what the whole list lacks stands by itself. */
export const ListFaults = ({ list, error, faults, meant, onMeant }: Props) => {
  const currency = useSession().account.balance.currency
  const {
    total_minor: total,
    fees_minor: fees,
    available_minor: available,
    reason,
  } = error instanceof ApiError ? error.details : {}
  const isShort = typeof total === 'string'
  const wrong = new Set(faults.map(({ row }) => row))
  const named = (param: string | null) => (param === null || param === 'row' ? '' : `${fieldName(list, param)} `)
  const reasons = () => {
    const said = new Map<number, string>()
    for (const { row, param, message } of faults)
      said.set(row, [said.get(row), `${named(param)}${message}`].filter(Boolean).join('; '))
    return said
  }
  const save = (which: 'payable' | 'wrong') =>
    saveFile(
      `${list.name || 'list'}-${which === 'payable' ? 'can-be-paid' : 'cannot-be-paid'}.csv`,
      new Blob([correctedFiles(list, reasons())[which]], { type: 'text/csv' }),
    )
  return (
    <>
      {isShort && (
        <Notice tone="bad" title="The balance does not suffice" live>
          <p>
            The list needs {moneyText(total, currency)}
            {typeof fees === 'string' && fees !== '0' && ` and fees of ${moneyText(fees, currency)}`}
            {typeof available === 'string' && (
              <>
                , and {moneyText(available, currency)} is available. <Link href="/top-up">Top up</Link>
              </>
            )}
          </p>
        </Notice>
      )}
      {faults.length === 0 && !isShort && <Failure error={error} />}
      {faults.length > 0 && (
        <Notice tone="bad" title={`${countWords(wrong.size, 'row')} cannot be paid, so nothing was created`} live>
          <ul>
            {groupFaults(faults).map((kind) => (
              <li key={`${kind.param} ${kind.message}`}>
                <span className="strong">{capitalized(rowsText(kind.faults))}</span>: {named(kind.param)}
                {kind.message}
              </li>
            ))}
          </ul>
          {reason === 'possible_duplicate' ? (
            <Button size="small" onClick={onMeant}>
              {meant ? 'The repeated payments are meant' : 'These payments are meant again'}
            </Button>
          ) : (
            <>
              <p>Correct them below, then check again. Or go on in a spreadsheet:</p>
              <div className="row">
                {wrong.size < list.rows.length && (
                  <Button size="small" icon="download" onClick={() => save('payable')}>
                    {`The ${list.rows.length - wrong.size} that can be paid`}
                  </Button>
                )}
                <Button size="small" icon="download" onClick={() => save('wrong')}>
                  {`The ${wrong.size} that cannot, with reasons`}
                </Button>
              </div>
            </>
          )}
        </Notice>
      )}
    </>
  )
}

type Preview = Schemas['PaymentBatchPreview']
type Item = Preview['items'][number]
type PreviewProps = { preview: Preview; meant: boolean; onMeant: () => void }

const mostShown = 20

/** What would be created, once every row can be paid. What would be paid twice is asked about once. */
export const ListPreview = ({ preview, meant, onMeant }: PreviewProps) => {
  const { items, currency } = preview
  const known = items.filter(({ payee }) => payee === 'known').length
  const repeated = items.filter(({ looks_like: earlier }) => earlier !== null)
  const renamed = items.filter(({ given_name: given }) => given !== null)
  return (
    <>
      <Notice tone="good" title="Every row can be paid" live>
        <Facts
          facts={{
            Payments: countWords(preview.items_count, 'payment'),
            Total: moneyText(preview.total_minor, currency),
            Fees: feeWords(preview.total_minor, preview.fees_minor, currency),
            'New payees': preview.new_payees_count > 0 ? `${preview.new_payees_count} are created with the list` : null,
            'Known payees': known > 0 ? `${countWords(known, 'payment')}, under the names that you already have` : null,
            Approval:
              preview.required_approvals > 0
                ? `${countWords(preview.required_approvals, 'approval')} for the whole list`
                : 'Not needed',
            'Look at': warningsOfList(items),
          }}
        />
      </Notice>
      {renamed.length > 0 && (
        <Notice tone="warn" title={`${countWords(renamed.length, 'row')} with another name than the payee has`} live>
          <Named items={renamed}>
            {({ row, given_name: given, display_name: name }) => (
              <>
                Row {row}: the list says “<bdi>{given}</bdi>”, this number is “<bdi>{name}</bdi>”
              </>
            )}
          </Named>
        </Notice>
      )}
      {repeated.length > 0 && (
        <Notice tone="warn" title={`${countWords(repeated.length, 'row')} would be paid twice`} live>
          <Named items={repeated}>
            {({ row, display_name: name, amount_minor: amount, looks_like: earlier }) => (
              <>
                Row {row}, <bdi>{name}</bdi>, {moneyText(amount, currency)}:{' '}
                {earlier && earlier.payment_id !== null ? (
                  <>
                    <Link href={`/payments/${earlier.payment_id}`}>paid</Link> <Time at={earlier.created_at} />
                  </>
                ) : (
                  `the same as row ${earlier?.row}`
                )}
              </>
            )}
          </Named>
          <Button size="small" onClick={onMeant}>
            {meant ? 'They are paid again' : 'Pay them again'}
          </Button>
        </Notice>
      )}
    </>
  )
}

const Named = ({ items, children }: { items: readonly Item[]; children: (item: Item) => ReactNode }) => (
  <ul>
    {items.slice(0, mostShown).map((item) => (
      <li key={item.index}>{children(item)}</li>
    ))}
    {items.length > mostShown && <li>and {items.length - mostShown} more</li>}
  </ul>
)
