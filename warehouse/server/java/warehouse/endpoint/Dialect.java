package warehouse.endpoint;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.catalyst.parser.ParameterContext;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.ShowTables;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/**
 * The parser of a session: a text that may hold something of ours is planned in Python, all else goes to Spark as it
 * stands. Parsing acts on nothing: a statement that acts becomes a command. Where a command's columns are not known
 * before it has run, it runs as its execution begins, which is when Spark reads it.
 */
public class Dialect implements ParserInterface {
  /** Set for the sessions of clients that take the first column of SHOW TABLES for the names. */
  static final String HIVE_LISTING = "warehouse.listing.hive";

  /** What starts with one of these changes nothing. */
  private static final Set READS = new HashSet(Arrays.asList(new String[] {
    "SELECT", "WITH", "FROM", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "USE", "SET", "EXPLAIN"}));

  /** What starts with one of these may read a view. */
  private static final Set QUERIES = new HashSet(Arrays.asList(new String[] {
    "SELECT", "WITH", "FROM", "VALUES", "TABLE", "EXPLAIN"}));

  /** The columns of listings in which names stand that may be ours. */
  private static final Set NAMES = new HashSet(Arrays.asList(new String[] {"tableName", "viewName", "function"}));

  /** Set while this thread is inside Python: what Python gives to Spark then is Spark's own. */
  private static final ThreadLocal DEPTH = new ThreadLocal();

  private final SparkSession session;
  private final ParserInterface spark;
  private final House house;
  private final Pattern words;

  Dialect(SparkSession session, ParserInterface spark, House house, Pattern words) {
    this.session = session;
    this.spark = spark;
    this.house = house;
    this.words = words;
  }

  static boolean inside() {
    return DEPTH.get() != null;
  }

  /** Let Python answer; statements that it gives to Spark on the way are not looked at. */
  static void ask(Consumer whom, Statement statement) {
    Object before = DEPTH.get();
    DEPTH.set(Boolean.TRUE);
    try {
      whom.accept(statement);
    } catch (RuntimeException error) {
      statement.refuse("[WAREHOUSE_INTERNAL] the engine does not answer: " + error + " SQLSTATE: XX000", "XX000");
    } finally {
      if (before == null) {
        DEPTH.remove();
      }
    }
    if (statement.refusal != null) {
      Platform.throwException(new Refusal(statement.refusal, statement.state));
    }
  }

  public LogicalPlan parsePlan(String text) throws ParseException {
    return read(text, null);
  }

  public LogicalPlan parsePlanWithParameters(String text, ParameterContext parameters) throws ParseException {
    return read(text, parameters);
  }

  private LogicalPlan read(String text, ParameterContext parameters) throws ParseException {
    if (inside()) {
      return given(text, parameters);
    }
    boolean executes = Execution.reads();
    String verb = firstWord(text);
    boolean mayChange = house.hasViews && QUERIES.contains(verb);
    if (READS.contains(verb) && !mayChange && !words.matcher(text).find()) {
      try {
        return shown(verb, given(text, parameters));
      } catch (Exception error) {
        if (error instanceof ParseException) {
          ask(house.planner, new Statement(session, "", text, null)); // a mistake of which we may know more
        }
        Platform.throwException(error);
      }
    }
    Statement statement = new Statement(session, "", text, null);
    ask(house.planner, statement);
    if (statement.unknown) {
      // Not parsed to be looked at, nor inside another statement, but because Spark is executing it.
      Statement begun = new Statement(session, executes ? Execution.current() : "", text, null);
      ask(house.beginner, begun);
      return begun.plan;
    }
    if (statement.columns != null) {
      return Act.of(house, text, statement.columns);
    }
    return shown(verb, given(statement.rewritten != null ? statement.rewritten : text, parameters));
  }

  /** The first word of a statement in upper case, behind comments and brackets; empty when there is none. */
  static String firstWord(String text) {
    int at = 0;
    while (at < text.length()) {
      char here = text.charAt(at);
      if (text.startsWith("--", at)) {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end + 1;
      } else if (text.startsWith("/*", at)) {
        at = behindComment(text, at);
      } else if (here == '(' || Character.isWhitespace(here)) {
        at++;
      } else {
        int end = at;
        while (end < text.length() && Character.isLetter(text.charAt(end))) {
          end++;
        }
        return text.substring(at, end).toUpperCase(Locale.ROOT);
      }
    }
    return "";
  }

  /** Where a comment ends; as in Spark's lexer comments nest, and what would begin a hint begins none in a comment. */
  private static int behindComment(String text, int start) {
    int at = start + 2;
    int depth = 1;
    while (at < text.length() && depth > 0) {
      boolean closes = text.startsWith("*/", at);
      boolean opens = text.startsWith("/*", at) && !text.startsWith("/*+", at);
      depth += closes ? -1 : opens ? 1 : 0;
      at += closes || opens ? 2 : 1;
    }
    return at;
  }

  /** What a SHOW lists as the client is to see it; any other statement as it is. */
  private LogicalPlan shown(String verb, LogicalPlan plan) {
    if (!"SHOW".equals(verb) || !(plan instanceof Command)) {
      return plan;
    }
    LogicalPlan shown = withoutOurs(plan);
    return plan instanceof ShowTables && session.conf().contains(HIVE_LISTING) ? namesFirst(shown) : shown;
  }

  /** A listing without the views and functions that the engine alone calls. */
  private LogicalPlan withoutOurs(LogicalPlan listing) {
    LogicalPlan shown = listing;
    for (int i = 0; i < listing.output().size(); i++) {
      String column = ((Attribute) listing.output().apply(i)).name();
      if (NAMES.contains(column)) {
        Expression ours = new StartsWith(UnresolvedAttribute.quoted(column), Literal$.MODULE$.apply(house.hidden));
        shown = new Filter(new Not(ours), shown);
      }
    }
    return shown;
  }

  /** The tables as Hive lists them, in one column: clients made for Hive take the first column for the names. */
  private static LogicalPlan namesFirst(LogicalPlan tables) {
    Object name = new Alias(UnresolvedAttribute.quoted("tableName"), "tab_name",
        NamedExpression$.MODULE$.newExprId(), scala.collection.immutable.Nil$.MODULE$, scala.Option.empty(),
        scala.collection.immutable.Nil$.MODULE$);
    java.util.List names = java.util.Collections.singletonList(name);
    return new Project(scala.jdk.javaapi.CollectionConverters.asScala(names).toSeq(), tables);
  }

  private LogicalPlan given(String text, ParameterContext parameters) throws ParseException {
    return parameters == null ? spark.parsePlan(text) : spark.parsePlanWithParameters(text, parameters);
  }

  public Expression parseExpression(String text) throws ParseException {
    return spark.parseExpression(text);
  }

  public TableIdentifier parseTableIdentifier(String text) throws ParseException {
    return spark.parseTableIdentifier(text);
  }

  public FunctionIdentifier parseFunctionIdentifier(String text) throws ParseException {
    return spark.parseFunctionIdentifier(text);
  }

  public scala.collection.immutable.Seq parseMultipartIdentifier(String text) throws ParseException {
    return spark.parseMultipartIdentifier(text);
  }

  public LogicalPlan parseQuery(String text) throws ParseException {
    return spark.parseQuery(text);
  }

  public StructType parseRoutineParam(String text) throws ParseException {
    return spark.parseRoutineParam(text);
  }

  public StructType parseTableSchema(String text) throws ParseException {
    return spark.parseTableSchema(text);
  }

  public DataType parseDataType(String text) throws ParseException {
    return spark.parseDataType(text);
  }
}
