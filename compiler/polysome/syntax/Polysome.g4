/*
 * The grammar of the language (LANGUAGE.md, section 1).
 *
 * Almost every decision is LL(1), so that the generated parser needs no run-time prediction: an expression is a
 * flat chain of operands and operators, and `build.py` gives it its precedence. Words that are no
 * statement keyword are ordinary names where they have no meaning: rule `name`.
 */
grammar Polysome;

program: item* EOF;
single: expr EOF; // a param's value on the command line

item: useDecl | structDecl | enumDecl | constDecl | fnDecl | headerDecl | parserDecl | hookDecl | blockDecl | nfDecl;

// ---- modules and plain declarations
useDecl: 'use' path ('as' name)? (useArgs | ';');
useArgs: '{' (fieldInit (',' fieldInit)* ','?)? '}' ';'?;
path: name ('.' member)*;
structDecl: 'struct' name '{' (typedName (',' typedName)* ','?)? '}';
typedName: name ':' type;
enumDecl: 'enum' name (':' type)? '{' enumMember (',' enumMember)* ','? '}';
enumMember: name ('=' expr)?;
constDecl: 'const' name ':' type '=' expr ';';
fnDecl: 'fn' name '(' (typedName (',' typedName)*)? ')' '->' type block;
actionDecl: 'action' name '(' (typedName (',' typedName)*)? ')' block;

// ---- types
type: baseType ('from' name)?;
baseType: 'ref' name | '(' type (',' type)* ')' | name typeArgs? ('(' expr (',' expr)* ')')? ('[' expr ']')?;
typeArgs: '<' typeArg (',' typeArg)* '>';
typeArg: type | INT;

// ---- headers and parsers
headerDecl: 'header' name '{' headerItem* '}';
headerItem: headerField | headerRule;
headerField: name ':' type fieldMark* ('=' expr)? ';';
fieldMark: 'length' '(' expr ')' | 'next' name | 'checksum' '(' name (',' name)* ')' ('zero' 'is' 'none')?;
headerRule: ('size' | 'end' | 'valid' | 'pseudo') expr (',' expr)* ';';

parserDecl: 'parser' name '{' parserItem* '}';
parserItem: stateDecl | groupDecl | valueDecl;
stateDecl: 'state' name '{' extract? transition? '}';
extract: 'extract' name ('as' instance)? ('cut' INT)? ';';
instance: name instancePart*;
instancePart: '.' member | '[' '..'? expr ']';
transition: 'goto' name ';' | 'select' expr '{' selectCase* '}';
selectCase: pattern (',' pattern)* '=>' name ';';
pattern: '_' | '(' pattern (',' pattern)* ')' | expr ('..' expr)?;
groupDecl: 'group' path '=' instance ('|' instance)* ';';
valueDecl: ('value' | 'class') name ':' type '=' expr ';';
hookDecl: 'parse' name ('as' instance)? 'after' instance ('when' expr)? ';';

// ---- network functions and blocks
nfDecl: 'nf' name '{' nfItem* '}';
blockDecl: 'block' name '{' nfItem* '}';
nfItem: portDecl | paramDecl | configDecl | relevantDecl | stateBlock | scheduleBlock | trafficBlock
      | handler | propertyDecl | useDecl | structDecl | enumDecl | constDecl | fnDecl | actionDecl;
portDecl: 'port' name (',' name)* ';';
paramDecl: 'param' name ':' type ('=' expr)? ';';
configDecl: 'config' name ':' type ('=' expr)? (clauses | ';');
relevantDecl: 'relevant' relevantItem (',' relevantItem)* ('else' elseArm)? ';';
relevantItem: instance ('.' '{' name (',' name)* ','? '}')? ('[' expr '..' expr ']')? ('when' expr)?;
stateBlock: 'state' '{' (indexDecl | stateDeclaration)* '}';
stateDeclaration: name ':' type ('per' 'core')? ('=' expr)? (clauses ';'? | ';');
indexDecl: 'index' name ':' name 'by' expr ';';
scheduleBlock: 'schedule' clauses;
trafficBlock: 'traffic' clauses;
clauses: '{' clause* '}';
clause: 'when' 'full' word word? ';'
      | name (clauseArg (',' clauseArg)*)? ('max' expr)? ('per' expr)? ';';
clauseArg: expr ('..' expr)?;
word: name | 'drop';
handler: 'on' 'packet' ('from' name (',' name)*)? block
       | 'on' 'end' name '(' name ',' name ',' name ')' block
       | 'every' expr block;

// ---- properties
propertyDecl: 'property' name '{' propertyItem* '}';
propertyItem: 'let' name '=' expr ';' | 'for' name (',' name)* 'in' expr ('where' expr)? propertyItem | 'expect' expr ';';

// ---- statements
block: '{' statement* '}';
statement: letStatement | ifStatement | forStatement | requireStatement | verdict ';' | emitStatement | pushStatement
         | popStatement | truncateStatement | removeStatement | expressionStatement;
letStatement: 'let' binding '=' expr ('else' elseArm)? ';';
binding: name (':' type)? | '(' name (',' name)* ')';
elseArm: block | verdict | expr;
ifStatement: 'if' condition block ('else' (ifStatement | block))?;
condition: 'let' binding '=' expr | expr;
forStatement: 'for' name (',' name)? 'in' expr ('..' expr)? block;
requireStatement: 'require' expr ('else' elseArm)? ';';
verdict: 'send' expr | 'bounce' | 'drop' STRING?;
emitStatement: 'emit' headerLiteral (',' headerLiteral)* ('payload' expr)? 'to' expr ';';
headerLiteral: name fieldInits?;
fieldInits: '{' (fieldInit (',' fieldInit)* ','?)? '}';
fieldInit: name ':' expr;
pushStatement: 'push' headerLiteral 'before' instance ';';
popStatement: 'pop' instance ('..' instance)? ';';
truncateStatement: 'truncate' expr ';';
removeStatement: 'remove' expr ';';
expressionStatement: expr (assignOp expr ('else' elseArm)?)? ';'?;
assignOp: '=' | '+=' | '-=' | '*=' | '&=' | '|=' | '^=';

// ---- expressions
expr: operand (binaryOp operand)*;
binaryOp: '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<<' | '>' '>' | '++'
        | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'and' | 'or' | 'in';
operand: prefixOp* postfix ('as' type)*;
prefixOp: 'not' | '~';
postfix: primary suffix*;
suffix: '.' member | '.' INT | '[' expr ('..' expr | ':' expr)? ']' | '(' (argument (',' argument)*)? ')';
argument: (name ':')? expr ('..' expr)? ('where' expr)? (':' expr)?;
primary: literal | name structBody? | '(' expr (',' expr)* ')' | ifExpression | '{' expr (',' expr)* '}'
       | ('exists' | 'forall') name 'in' expr 'where' expr;
structBody: '{' fieldInit (',' fieldInit)* ','? '}';
ifExpression: 'if' expr block 'else' (ifExpression | block);
literal: INT | QUANTITY | HEX | BINARY | STRING | IPV4 | IPV6 | MAC | PREFIX4 | PREFIX6 | 'true' | 'false';

// Words with a meaning somewhere that are ordinary names elsewhere.
name: IDENT | 'length' | 'next' | 'checksum' | 'zero' | 'is' | 'none' | 'size' | 'end' | 'valid' | 'pseudo'
    | 'state' | 'extract' | 'cut' | 'goto' | 'select' | 'group' | 'value' | 'class' | 'parse' | 'after'
    | 'port' | 'param' | 'config' | 'schedule' | 'traffic' | 'packet' | 'payload' | 'index' | 'by' | 'per' | 'core'
    | 'full' | 'max' | 'every' | 'from' | 'to' | 'before' | 'property' | 'block' | 'header' | 'parser' | 'nf' | 'ref'
    | 'expect' | 'exists' | 'forall';
// After a dot every word is a name: `p.in`.
member: name | 'in' | 'on' | 'use' | 'as' | 'drop' | 'send' | 'remove' | 'push' | 'pop' | 'emit' | 'when' | 'where'
      | 'struct' | 'enum' | 'fn' | 'action' | 'relevant' | 'require' | 'truncate' | 'bounce' | 'for' | 'if' | 'else'
      | 'let' | 'const';

// ---- tokens
MAC: HH ':' HH ':' HH ':' HH ':' HH ':' HH;
PREFIX6: IPV6 '/' DIGIT+;
PREFIX4: IPV4 '/' DIGIT+;
IPV6: (GROUP ':')+ (':' GROUP)+ | (GROUP ':')+ ':' | '::' (GROUP (':' GROUP)*)?
    | GROUP ':' GROUP ':' GROUP ':' GROUP ':' GROUP ':' GROUP ':' GROUP ':' GROUP
    | ((GROUP ':')* GROUP '::' | '::') (GROUP ':')* IPV4 | GROUP ':' GROUP ':' GROUP ':' GROUP ':' GROUP ':' GROUP ':' IPV4;
IPV4: DIGIT+ '.' DIGIT+ '.' DIGIT+ '.' DIGIT+;
HEX: '0x' [0-9a-fA-F_]+;
BINARY: '0b' [01_]+;
INT: DIGIT [0-9_]*;
QUANTITY: DIGIT [0-9_]* ('.' DIGIT+)? ([a-zA-Z] [a-zA-Z0-9]* | '%');
IDENT: [a-zA-Z] [a-zA-Z0-9_]* | '_' [a-zA-Z0-9_]+;
STRING: '"' (~["\\\r\n] | '\\' .)* '"';
DOC: '///' ~[\r\n]* -> channel(HIDDEN);
COMMENT: ('//' ~[\r\n]* | '/*' .*? '*/') -> channel(HIDDEN);
SPACE: [ \t\r\n]+ -> channel(HIDDEN);
OTHER: .;

fragment DIGIT: [0-9];
fragment HH: [0-9a-fA-F] [0-9a-fA-F];
fragment GROUP: [0-9a-fA-F] [0-9a-fA-F]? [0-9a-fA-F]? [0-9a-fA-F]?;
