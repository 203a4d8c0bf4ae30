/** The subset of P4_16 with the TNA and T2NA architectures that `backends/tofino` emits and people edit by hand.
 *
 *  It is a syntax only: names, widths and what a chip can do are checked afterwards. What P4_16 has beyond it
 *  (enums, header unions and stacks, varbit, value sets, functions, generics, the preprocessor) does not parse; syntax_errors.py
 *  says for each of these words what to write instead. `make parser` generates the parser.
 */
grammar P4;

program: item* EOF;

item
    : INCLUDE                                                                                   # include
    | annotation* CONST type name '=' expr ';'                                                  # constDecl
    | annotation* TYPEDEF type name ';'                                                         # typedefDecl
    | annotation* HEADER name '{' field* '}'                                                    # headerDecl
    | annotation* STRUCT name '{' field* '}'                                                    # structDecl
    | annotation* PARSER name '(' params ')' '{' local* state* '}'                              # parserDecl
    | annotation* CONTROL name '(' params ')' '{' local* APPLY block '}'                        # controlDecl
    | annotation* instance                                                                      # instanceDecl
    ;

field: annotation* type name ';';
params: (param (',' param)*)?;
param: annotation* direction=(IN | OUT | INOUT)? type name;

// What stands before the states of a parser or the `apply` of a control.
local
    : annotation* CONST type name '=' expr ';'                                                  # localConst
    | annotation* ACTION name '(' params ')' block                                              # actionDecl
    | annotation* TABLE name '{' property* '}'                                                  # tableDecl
    | annotation* instance                                                                      # localInstance
    | annotation* type name ('=' expr)? ';'                                                     # localVariable
    ;

instance: type '(' args ')' name ('=' '{' method* '}')? ';';
method: annotation* VOID (name | APPLY) '(' params ')' block;

property
    : KEY '=' '{' keyElement* '}'                                                               # keyProperty
    | ACTIONS '=' '{' actionRef* '}'                                                            # actionsProperty
    | CONST? ENTRIES '=' '{' entry* '}'                                                         # entriesProperty
    | CONST? name '=' expr ';'                                                                  # valueProperty
    ;
keyElement: expr ':' name annotation* ';';
actionRef: annotation* name ';';
entry: keyset ':' expr annotation* ';';

state: annotation* STATE name '{' statement* (TRANSITION transition)? '}';
transition: name ';' | SELECT '(' args ')' '{' selectCase* '}';
selectCase: keyset ':' name ';';
keyset: '(' keyValue (',' keyValue)+ ')' | '(' keyValue ')' | keyValue;
keyValue: DEFAULT | UNDERSCORE | expr ('&&&' expr)?;

block: '{' statement* '}';
statement
    : block                                                                                     # blockStatement
    | IF '(' expr ')' statement (ELSE statement)?                                               # ifStatement
    | SWITCH '(' expr ')' '{' switchCase* '}'                                                   # switchStatement
    | expr '=' expr ';'                                                                         # assignment
    | expr ';'                                                                                  # callStatement
    | CONST? type name ('=' expr)? ';'                                                          # variable
    | ';'                                                                                       # emptyStatement
    ;
switchCase: switchLabel ':' block?;
switchLabel: DEFAULT | name;

// Strongest first. `> >` is one operator; two tokens, since `>>` also ends `lookahead<bit<8>>`.
expr
    : expr '.' member typeArgs '(' args ')'                                                     # genericCall
    | expr '(' args ')'                                                                         # call
    | expr '.' member                                                                           # memberOf
    | expr '[' expr (':' expr)? ']'                                                             # slice
    | name typeArgs '(' args ')'                                                                # genericFunction
    | op=('!' | '~' | '-') expr                                                                 # unary
    | '(' simpleType ')' expr                                                                   # cast
    | '(' name ')' castOperand                                                                  # namedCast
    | expr op=('*' | '/' | '%') expr                                                            # binary
    | expr op=('+' | '-' | '|+|' | '|-|' | '++') expr                                           # binary
    | expr (op='<<' | '>' '>') expr                                                             # binary
    | expr op='&' expr                                                                          # binary
    | expr op='^' expr                                                                          # binary
    | expr op='|' expr                                                                          # binary
    | expr op=('<' | '<=' | '>' | '>=') expr                                                    # binary
    | expr op=('==' | '!=') expr                                                                # binary
    | expr op='&&' expr                                                                         # binary
    | expr op='||' expr                                                                         # binary
    | <assoc=right> expr '?' expr ':' expr                                                      # conditional
    | '(' expr ')'                                                                              # paren
    | '{' args '}'                                                                              # listOf
    | NUMBER                                                                                    # number
    | (TRUE | FALSE)                                                                            # boolean
    | name                                                                                      # named
    ;
// `(a) - b` is a difference: what follows a type's name must not look like the right side of an operator.
castOperand: op=('!' | '~') castOperand | castOperand '.' member | castOperand '(' args ')' | castOperand '[' expr (':' expr)? ']'
    | '(' expr ')' | NUMBER | name;

args: (expr (',' expr)*)?;
typeArgs: '<' type (',' type)* '>';
type: simpleType | name typeArgs?;
simpleType: BIT ('<' width '>')? | INT '<' width '>' | BOOL;
width: NUMBER | '(' expr ')';
annotation: '@' (name | UNDERSCORE) ('(' annotationBody* ')')?;
annotationBody: ~('(' | ')') | '(' annotationBody* ')';
member: name | APPLY;
name: ID | KEY | ACTIONS | ENTRIES | STATE;

ACTION: 'action';
ACTIONS: 'actions';
APPLY: 'apply';
BIT: 'bit';
BOOL: 'bool';
CONST: 'const';
CONTROL: 'control';
DEFAULT: 'default';
ELSE: 'else';
ENTRIES: 'entries';
FALSE: 'false';
HEADER: 'header';
IF: 'if';
IN: 'in';
INOUT: 'inout';
INT: 'int';
KEY: 'key';
OUT: 'out';
PARSER: 'parser';
SELECT: 'select';
STATE: 'state';
STRUCT: 'struct';
SWITCH: 'switch';
TABLE: 'table';
TRANSITION: 'transition';
TRUE: 'true';
TYPEDEF: 'typedef';
VOID: 'void';
UNDERSCORE: '_';

INCLUDE: '#' [ \t]* 'include' [ \t]* ('<' ~[>\r\n]* '>' | '"' ~["\r\n]* '"');
DIRECTIVE: '#' ~[\r\n]*;
PRAGMA: '@pragma' ~[\r\n]* -> skip;
NUMBER: ([0-9]+ [ws])? ('0' [xX] [0-9a-fA-F_]+ | '0' [bB] [01_]+ | '0' [oO] [0-7_]+ | '0' [dD] [0-9_]+ | [0-9] [0-9_]*);
ID: [A-Za-z_] [A-Za-z0-9_]*;
STRING: '"' (~["\\\r\n] | '\\' .)* '"';
COMMENT: ('//' ~[\r\n]* | '/*' .*? '*/') -> skip;
BLANK: [ \t\r\n]+ -> skip;
OTHER: .;
