/** What Citus refuses of definitions that change divided tables: what the rules of statements (distribution-rules.ts) are for queries. */
import type { AlterTableCmd, Constraint, Node, RangeVar } from 'libpg-query'
import { DISTRIBUTED_TABLES } from '#src/cli/distribution.ts'
import { as, findAll, nameOf, PLAYER } from './statement-tree.ts'

interface DefinitionRule {
  what: string
  breaks: (node: Node) => boolean
}

const isDivided = (table: RangeVar | undefined): boolean =>
  (DISTRIBUTED_TABLES as readonly string[]).includes(table?.relname ?? '')

/** The changes of a divided table that a statement makes. */
function alterations(node: Node): AlterTableCmd[] {
  const altered = as(node, 'AlterTableStmt')
  return isDivided(altered?.relation) ? (altered?.cmds ?? []).flatMap((one) => as(one, 'AlterTableCmd') ?? []) : []
}

function constraintsOf({ subtype, def }: AlterTableCmd): Constraint[] {
  if (subtype === 'AT_AddConstraint') return [as(def, 'Constraint') ?? []].flat()
  return subtype === 'AT_AddColumn' ? (as(def, 'ColumnDef')?.constraints ?? []).flatMap((one) => as(one, 'Constraint') ?? []) : []
}

export const definitionRules: DefinitionRule[] = [
  {
    what: 'makes something unique over many players',
    breaks: (node) => {
      const index = as(node, 'IndexStmt')
      const isOfPlayers = index?.indexParams?.some((one) => as(one, 'IndexElem')?.name === PLAYER) ?? false
      const unique = alterations(node)
        .flatMap(constraintsOf)
        .filter(({ contype, indexname }) => /UNIQUE|PRIMARY|EXCLUSION/.test(contype ?? '') && indexname === undefined)
      return (
        (isDivided(index?.relation) && index?.unique === true && !isOfPlayers) ||
        unique.some(({ keys = [] }) => !keys.some((key) => as(key, 'String')?.sval === PLAYER))
      )
    },
  },
  {
    what: 'has divided tables and others refer to each other',
    breaks: (node) => {
      const altered = as(node, 'AlterTableStmt')
      const foreign = findAll(altered?.cmds, (one) => as(one, 'Constraint')?.contype === 'CONSTR_FOREIGN')
      return foreign.some((one) => isDivided(as(one, 'Constraint')?.pktable) !== isDivided(altered?.relation))
    },
  },
  { what: 'has changes of a divided table trigger something', breaks: (node) => isDivided(as(node, 'CreateTrigStmt')?.relation) },
  {
    what: 'numbers the rows of a divided table',
    breaks: (node) =>
      alterations(node).some(
        (command) =>
          constraintsOf(command).some(({ contype }) => contype === 'CONSTR_IDENTITY') ||
          /serial/.test(nameOf(as(command.def, 'ColumnDef')?.typeName?.names)),
      ),
  },
  {
    what: 'changes the column by which a table is divided',
    breaks: (node) =>
      alterations(node).some(
        ({ subtype, name }) => name === PLAYER && (subtype === 'AT_DropColumn' || subtype === 'AT_AlterColumnType'),
      ),
  },
  {
    what: 'adds a condition beside another change, or with a column and no name',
    breaks: (node) => {
      const commands = alterations(node)
      return commands.some(
        (one) =>
          (one.subtype === 'AT_AddConstraint' && commands.length > 1) ||
          (one.subtype === 'AT_AddColumn' &&
            constraintsOf(one).some(({ contype, conname }) => contype === 'CONSTR_CHECK' && conname === undefined)),
      )
    },
  },
  {
    what: 'changes of a divided table what Citus does not hand on to its shards',
    breaks: (node) =>
      alterations(node).some(({ subtype = '' }) => ['AT_SetStatistics', 'AT_SetStorage', 'AT_AddInherit'].includes(subtype)),
  },
]
