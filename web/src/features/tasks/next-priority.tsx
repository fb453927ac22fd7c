/** The next free priority, above all that are used (§5: priorities are unique within a collection), and a button that fills it in. */
import { MAX_NUMBER } from '@arcade/contract/entity'
import { type TaskCollection, taskLists } from '@arcade/contract/tasks/fields'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '#src/client/client.ts'

/** `value` is the first whole number above all priorities of the collection; undefined until it is loaded, and unless `isWanted`. */
export function useNextPriority(collection: TaskCollection, isWanted: boolean) {
  const { data, refetch } = useQuery(
    api[taskLists[collection].name].list.queryOptions({ input: { reversed: 'true' }, enabled: isWanted }),
  )
  const highest = data?.tasks[0]?.priority ?? 0
  const next = Math.floor(highest) + 1
  return { value: data && next <= MAX_NUMBER ? next : undefined, refetch }
}

export function NextPriorityButton({ value, onChoose }: { value: number; onChoose: (value: number) => void }) {
  return (
    <Button variant="default" onClick={() => onChoose(value)}>
      Next free: {value}
    </Button>
  )
}
