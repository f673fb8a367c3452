import { Link } from 'wouter'
import { groupFaults, type RowFault, rowsText } from '../../../../client/src/list-faults.ts'
import { ApiError } from '../../api/error.ts'
import { capitalized, countWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { correctedFiles, fieldName, type PaymentList } from '../../lib/payment-list.ts'
import { saveFile } from '../../lib/save-file.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice } from '../../ui/layout.tsx'

type Props = { list: PaymentList; error: unknown; faults: readonly RowFault[]; meant: boolean; onMeant: () => void }

/** What has to be corrected, each kind once with its rows; what the whole list lacks stands by itself. */
export const ListFaults = ({ list, error, faults, meant, onMeant }: Props) => {
  const currency = useSession().account.balance.currency
  const { total_minor: total, available_minor: available, reason } = error instanceof ApiError ? error.details : {}
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
